/* What weston and sway have for whoever looks at their screens, and moves their pointers. */
#ifndef ROUSE_TESTS_SCREEN_PROTOCOLS_H
#define ROUSE_TESTS_SCREEN_PROTOCOLS_H

#include <wayland-client.h>

/* weston's: a picture of an output, into a buffer of its size. */
extern const struct wl_interface shooter_interface;
enum { SHOOTER_TAKE }; /* output, buffer */
struct shooter_listener {
	void (*done)(void *data, struct wl_proxy *shooter);
};

/* sway's: the same, by a frame that says first what buffer it wants. */
extern const struct wl_interface copier_interface, frame_interface;
enum { COPIER_OUTPUT, COPIER_REGION, COPIER_DESTROY }; /* frame, cursor, output */
enum { FRAME_COPY, FRAME_DESTROY };                    /* buffer */
struct frame_listener {
	void (*buffer)(void *data, struct wl_proxy *frame, uint32_t format, uint32_t width,
	               uint32_t height, uint32_t stride);
	void (*flags)(void *data, struct wl_proxy *frame, uint32_t flags);
	void (*ready)(void *data, struct wl_proxy *frame, uint32_t seconds_high,
	              uint32_t seconds_low, uint32_t nanoseconds);
	void (*failed)(void *data, struct wl_proxy *frame);
};

/* sway's: a pointer of one's own in a seat. */
extern const struct wl_interface pointers_interface, pointer_interface;
enum { POINTERS_CREATE }; /* seat or none, pointer */
enum { POINTER_MOVE_BY, POINTER_MOVE_TO, POINTER_BUTTON, POINTER_AXIS, POINTER_FRAME };

#endif
