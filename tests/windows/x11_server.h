#ifndef ROUSE_TESTS_X11_SERVER_H
#define ROUSE_TESTS_X11_SERVER_H

#include <X11/Xlib.h>

/* Expose events, as any client may send them; nothing is flushed. */
void x11_expose(Display *display, Window window, unsigned count);

#endif
