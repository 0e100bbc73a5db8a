/* A loop with a window library attached, on a private server: what the tests of all four have in
 * common.  A test is linked with one library (glfw_subject.c, sdl_subject.c) and one server
 * (x11_server.c, wayland_server.c). */
#ifndef ROUSE_TESTS_SUBJECT_H
#define ROUSE_TESTS_SUBJECT_H

#include "display/turns.h"

struct subject {
	rouse_loop *loop;
	/* The library's connection: one of the two; neither once it has quit. */
	struct _XDisplay *display;
	struct wl_display *wayland;
	/* On X11: its window, and a second client, which is used synchronously. */
	unsigned long window;
	struct _XDisplay *other;
	void *attached; /* the adapter's; NULL: detached */
	rouse_ns period;

	/* What the callbacks saw. */
	unsigned events; /* of ours: Expose on X11, answers to wl_display_sync() on Wayland */
	unsigned after, lost;
	unsigned after_until_lost;
	bool asked_to_close;

	/* What a callback does besides; NULL: nothing. */
	void (*on_event)(struct subject *s);
	void (*on_after)(struct subject *s);
	void (*on_lost)(struct subject *s);
	void *data;
};

/* The server runs, or the program ends as skipped: there is none, or the library does not run on
 * it.
 */
void subject_begin(void);
/* The library is initialised, with a window, and attached to a loop.  `loop_options` may be NULL.
 */
void subject_open(struct subject *s, const rouse_loop_options *loop_options);
void subject_close(struct subject *s);
/* The library's own end, with its windows. */
void subject_quit(struct subject *s);

/* For the callbacks of the library's and the adapter's. */
void subject_event(struct subject *s);
void subject_after(struct subject *s);
void subject_lost(struct subject *s);

/* ---- One library ------------------------------------------------------------------ */

/* Whether events of ours are handed out by the adapter, one budget a turn at most. */
extern bool subject_has_budget;

/* Initialise it, with a window.  False where it does not run on this server. */
bool library_open(struct subject *s);
void library_quit(void);
/* Its own empty event, or a push; on any thread. */
void library_push(void);
/* Its own wait, for so long at most. */
void library_wait(rouse_ns longest);
int subject_attach(struct subject *s, rouse_loop *loop, void **ret_attached);
int subject_detach(void *attached);

/* ---- One server -------------------------------------------------------------------- */

/* As SDL calls it. */
extern const char server_driver[];

void server_start(void);
/* As a crash does it; and a new one. */
void server_kill(void);
/* Around the life of the library's connection. */
void server_join(struct subject *s);
void server_leave(struct subject *s);
/* What the server and the library still had to say to each other. */
void server_settle(struct subject *s);
void server_round_trip(struct subject *s);
/* A request that nothing answers, where there is one that needs no more than the window. */
extern const bool server_draws;
void server_draw(struct subject *s);
/* Whether it has a keyboard and a pointer. */
bool server_has_seat(void);
rouse_fd server_fd(const struct subject *s);

/* So many events of ours are asked for on the library's connection, and not waited for. */
void subject_ask(struct subject *s, unsigned count);
/* So many have come to the socket; on X11 from the second client. */
void subject_send(struct subject *s, unsigned count);
/* So many more are in the library's queue in memory, and the socket is empty. */
void subject_queue(struct subject *s, unsigned count);

#endif
