/* A Wayland display in a loop that is the guest of another one, by its descriptor. */
#ifndef ROUSE_TESTS_WL_GUEST_H
#define ROUSE_TESTS_WL_GUEST_H

#include "wl_fixture.h"

/* `sole`: by the promise; else a thread of the library's reads. */
rouse_fd wl_guest_open(struct wl_fixture *f, bool sole);
/* Ask for an event, whoever reads it. */
void wl_guest_asked(struct wl_fixture *f);
/* So many threads of the library's read. */
void wl_guest_readers(unsigned expected);

/* What a host does: sleep on the one descriptor, turn. */
bool wl_guest_wakes(rouse_fd fd, rouse_ns longest);
void wl_guest_turn(struct wl_fixture *f, rouse_fd fd);
void wl_guest_until(struct wl_fixture *f, rouse_fd fd, const unsigned *what, unsigned least);
/* Nothing is left to do, and the descriptor says so. */
void wl_guest_rests(struct wl_fixture *f, rouse_fd fd);

#endif
