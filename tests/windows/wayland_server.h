#ifndef ROUSE_TESTS_WAYLAND_SERVER_H
#define ROUSE_TESTS_WAYLAND_SERVER_H

#include "display/weston.h"

extern struct weston wayland_server;

#endif
