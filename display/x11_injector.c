/*
 * The injector: messages into an X event stream, from any thread.
 *
 * It has a connection of its own, so that a sender shares nothing with the loop's thread but
 * XCB's lock.  The connection's descriptor is a source of the loop, only so that errors (the window
 * is gone) and the few events that every client gets are read without a round trip.  A
 * thread that waits in XCB may read an error into XCB's queue, where the descriptor does not show
 * it: whoever has talked to XCB looks into that queue itself.
 *
 * Who ends it.  The descriptor may be closed only after its source has left the loop, which only
 * the loop's thread can do; but the last reference is dropped on any thread, and the attachment
 * or the loop may go first.  So there are two counts.  `users` counts the references that users
 * hold.  `refs` counts parties: all users together are one, the source in the loop is one.
 *   - The last user makes its party's reference that of `task`, and posts that.  On the loop's
 *     thread the task, run or cancelled, parts the source from the loop (unless that is done
 *     already), and drops its own reference.  That may be before the post returns: the last user
 *     holds the remote by a reference of its own meanwhile.
 *   - If the post is refused, the loop is being destroyed or was.  Then the hook's release, on
 *     the loop's thread, has parted the source or is going to, and the last user just drops its
 *     party's reference.
 *   - Parting drops the source's reference.  It is done once: by the task, by the loss of the
 *     connection, or by the release of the attachment, all of them on the loop's thread.
 * Whoever drops the last of `refs` disconnects and frees: nobody sends (no users), and the
 * descriptor is in no loop (no source).
 */
#include "x11_private.h"

#include <X11/Xlib-xcb.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct rouse_x11_injector {
	atomic_uint users;
	atomic_uint refs;
	atomic_bool lost;
	xcb_connection_t *connection;
	xcb_window_t window;
	xcb_atom_t atom;
	pid_t owner; /* a child of it has the connection's descriptor, and not the connection */
	rouse_allocator allocator;
	rouse_remote *remote;
	rouse_task task;

	/* The loop's thread only. */
	rouse_x11 *x11; /* NULL once parted */
	rouse_x11_injector *next;
	rouse_source source;
};

/* Tells our messages from those that others happen to call the same.  No secret. */
static uint64_t tag;

static void make_tag(void)
{
	if (getrandom(&tag, sizeof(tag), GRND_NONBLOCK) != sizeof(tag))
		tag = rouse_now() ^ (uint64_t)getpid() << 32;
}

bool rouse__x11_is_ours(const rouse_x11 *x11, const XClientMessageEvent *message,
                        uint64_t *ret_payload)
{
	uint64_t word[4];

	if (x11->atom == None || message->message_type != x11->atom || message->format != 32)
		return false;
	/* A slot has 32 bits on the wire, and Xlib extends the sign. */
	for (int i = 0; i < 4; i++)
		word[i] = (uint32_t)message->data.l[i];
	if ((word[0] | word[1] << 32) != tag)
		return false;
	*ret_payload = word[2] | word[3] << 32;
	return true;
}

static void drop(rouse_x11_injector *injector)
{
	if (atomic_fetch_sub_explicit(&injector->refs, 1, memory_order_acq_rel) != 1)
		return;
	rouse__x_disconnect(injector->connection, injector->owner);
	rouse_remote_unref(injector->remote);
	injector->allocator.free(injector, sizeof(*injector), injector->allocator.ctx);
}

/* The source leaves the loop.  On the loop's thread, once. */
static void part(rouse_x11_injector *injector)
{
	rouse_x11_injector **link = &injector->x11->injectors;

	while (*link != injector)
		link = &(*link)->next;
	*link = injector->next;
	rouse_remove(injector->x11->loop, injector->source);
	injector->x11 = NULL;
	atomic_store_explicit(&injector->lost, true, memory_order_release);
	drop(injector);
}

void rouse__x11_part_injectors(rouse_x11 *x11)
{
	while (x11->injectors)
		part(x11->injectors);
}

static void task_done(rouse_task *task)
{
	rouse_x11_injector *injector = (void *)((char *)task - offsetof(rouse_x11_injector, task));

	if (injector->x11)
		part(injector);
	drop(injector);
}

static void task_run(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	task_done(task);
}

static bool is_lost(rouse_x11_injector *injector)
{
	return atomic_load_explicit(&injector->lost, memory_order_acquire);
}

/* Empty XCB's queue.  Any error is of a message of ours that did not arrive. */
static void drain(rouse_x11_injector *injector,
                  xcb_generic_event_t *(*next)(xcb_connection_t *connection))
{
	xcb_generic_event_t *event;
	bool lost = false;

	while ((event = next(injector->connection))) {
		lost |= event->response_type == 0;
		free(event);
	}
	if (lost || xcb_connection_has_error(injector->connection))
		atomic_store_explicit(&injector->lost, true, memory_order_release);
}

static void ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	rouse_x11_injector *injector = data;

	(void)loop, (void)self, (void)fd, (void)events;
	drain(injector, xcb_poll_for_event);
	if (is_lost(injector))
		part(injector);
}

/* A connection whose descriptor is not one of the standard three. */
static int connect_to(const char *name, xcb_connection_t **ret_connection)
{
	int low[3], count = 0, fd;

	while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= 2)
		low[count++] = fd;
	xcb_connection_t *connection = NULL;
	if (fd >= 0) {
		close(fd);
		connection = xcb_connect(name, NULL);
	}
	while (count > 0)
		close(low[--count]);
	if (!connection)
		return ROUSE_ELIMIT;

	int error = xcb_connection_has_error(connection);
	if (error) {
		xcb_disconnect(connection);
		return error == XCB_CONN_CLOSED_MEM_INSUFFICIENT ? ROUSE_ENOMEM : ROUSE_ELOST;
	}
	*ret_connection = connection;
	return 0;
}

/* Learn the atom, and that the window is there. */
static int greet(rouse_x11_injector *injector)
{
	static const char name[] = "_ROUSE_MESSAGE";
	xcb_connection_t *c = injector->connection;
	xcb_intern_atom_cookie_t atom_cookie = xcb_intern_atom(c, 0, sizeof(name) - 1, name);
	xcb_get_window_attributes_cookie_t window_cookie =
	        xcb_get_window_attributes(c, injector->window);
	xcb_generic_error_t *atom_error = NULL, *window_error = NULL;
	xcb_intern_atom_reply_t *atom = xcb_intern_atom_reply(c, atom_cookie, &atom_error);
	xcb_get_window_attributes_reply_t *window =
	        xcb_get_window_attributes_reply(c, window_cookie, &window_error);
	int result = atom && window ? 0 : ROUSE_ELOST;

	if (result == 0)
		injector->atom = atom->atom;
	free(atom);
	free(atom_error);
	free(window);
	free(window_error);
	return result;
}

/* Everything but the place in the loop. */
static int open_injector(rouse_x11 *x11, xcb_window_t window, rouse_x11_injector **ret_injector)
{
	const rouse_allocator *allocator = &x11->allocator;
	rouse_x11_injector *injector = allocator->alloc(sizeof(*injector), allocator->ctx);

	if (!injector)
		return ROUSE_ENOMEM;
	memset(injector, 0, sizeof(*injector));
	injector->allocator = *allocator;
	injector->window = window;
	injector->owner = getpid();
	injector->task.run = task_run;
	injector->task.cancel = task_done;
	atomic_init(&injector->users, 1);
	atomic_init(&injector->refs, 1);
	int result = connect_to(DisplayString(x11->display), &injector->connection);
	if (result < 0) {
		allocator->free(injector, sizeof(*injector), allocator->ctx);
		return result;
	}
	result = greet(injector);
	if (result < 0) {
		drop(injector);
		return result;
	}
	injector->remote = rouse_loop_remote(x11->loop);
	*ret_injector = injector;
	return 0;
}

int rouse_x11_injector_create(rouse_x11 *x11, unsigned long window,
                              rouse_x11_injector **ret_injector)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	rouse_x11_injector *injector;
	struct rouse__x_hushed hushed;

	if (!x11 || !ret_injector)
		return ROUSE_EINVAL;
	int result = rouse__display_thread(x11->loop);
	if (result < 0)
		return result;
	if (x11->lost)
		return ROUSE_ELOST;
	/* A message without an event mask goes to the client that created the window. */
	const xcb_setup_t *setup = xcb_get_setup(x11->connection);
	if (window > UINT32_MAX ||
	    ((uint32_t)window & ~setup->resource_id_mask) != setup->resource_id_base)
		return ROUSE_EINVAL;

	pthread_once(&once, make_tag);
	rouse__x_hush(&hushed);
	rouse__x11_enter(x11);
	XSync(x11->display, False); /* the window may only be on its way to the server */
	result = x11->lost || x11->gone ? ROUSE_ELOST
	                                : open_injector(x11, (xcb_window_t)window, &injector);
	/* Whichever connection broke: the injector's may be closed already. */
	rouse__x_unhush(&hushed, result < 0);
	if (result == 0) {
		int fd = xcb_get_file_descriptor(injector->connection);
		result = rouse_fd_add(x11->loop, fd, ROUSE_READABLE, ready, injector,
		                      &injector->source);
		if (result < 0)
			drop(injector);
	}
	if (result == 0) {
		atomic_fetch_add_explicit(&injector->refs, 1, memory_order_relaxed);
		injector->x11 = x11;
		injector->next = x11->injectors;
		x11->injectors = injector;
		x11->atom = injector->atom;
		*ret_injector = injector;
	}
	rouse__x11_leave(x11);
	return result;
}

int rouse_x11_injector_send(rouse_x11_injector *injector, uint64_t payload)
{
	xcb_client_message_event_t event = {.response_type = XCB_CLIENT_MESSAGE, .format = 32};
	struct rouse__x_hushed hushed;

	if (!injector)
		return ROUSE_EINVAL;
	if (is_lost(injector))
		return ROUSE_ELOST;
	event.window = injector->window;
	event.type = injector->atom;
	event.data.data32[0] = (uint32_t)tag;
	event.data.data32[1] = (uint32_t)(tag >> 32);
	event.data.data32[2] = (uint32_t)payload;
	event.data.data32[3] = (uint32_t)(payload >> 32);
	rouse__x_hush(&hushed);
	xcb_send_event(injector->connection, 0, injector->window, XCB_EVENT_MASK_NO_EVENT,
	               (const char *)&event);
	xcb_flush(injector->connection);
	rouse__x_unhush(&hushed, xcb_connection_has_error(injector->connection));
	drain(injector, xcb_poll_for_queued_event);
	return is_lost(injector) ? ROUSE_ELOST : 0;
}

int rouse_x11_injector_sync(rouse_x11_injector *injector)
{
	struct rouse__x_hushed hushed;

	if (!injector)
		return ROUSE_EINVAL;
	if (is_lost(injector))
		return ROUSE_ELOST;
	rouse__x_hush(&hushed);
	free(xcb_get_input_focus_reply(injector->connection,
	                               xcb_get_input_focus(injector->connection), NULL));
	rouse__x_unhush(&hushed, xcb_connection_has_error(injector->connection));
	drain(injector, xcb_poll_for_queued_event);
	return is_lost(injector) ? ROUSE_ELOST : 0;
}

rouse_x11_injector *rouse_x11_injector_ref(rouse_x11_injector *injector)
{
	if (injector)
		atomic_fetch_add_explicit(&injector->users, 1, memory_order_relaxed);
	return injector;
}

rouse_x11_injector *rouse_x11_injector_unref(rouse_x11_injector *injector)
{
	if (!injector || atomic_fetch_sub_explicit(&injector->users, 1, memory_order_acq_rel) != 1)
		return NULL;
	/* Once queued the task may run at once and drop the injector with its reference to the
	 * remote, and the loop may end, while this thread has yet to ring. */
	rouse_remote *remote = rouse_remote_ref(injector->remote);
	if (rouse_post_task(remote, &injector->task) < 0)
		drop(injector);
	rouse_remote_unref(remote);
	return NULL;
}
