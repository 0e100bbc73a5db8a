/*
 * The tap: records what is pressed and released, whoever does it, and tells the worker.
 *
 * RECORD wants two connections: `control` makes the context and disables it; on `data` the
 * recording comes, as replies without end to one request.  Until it is disabled the server takes no
 * other request from `data`.
 *
 * Xlib reads these replies in XEventsQueued(), on the way to events that never come, and calls
 * recorded() from inside it.  So `data` joins the loop as any display, by rouse_x11_attach().
 * A watched descriptor with XRecordProcessReplies() is not enough: replies that were read together
 * with an earlier one, the first for instance, are in memory, and the socket is silent.
 *
 * Nor may the tap ever wait for anybody.  Where events and requests take turns in a recording, and
 * its reader is behind, servers (X.Org 21.1 for one) leave events out: with some 280 unread, and
 * a few of thousands before.  So the requests recorded are the emitter's alone, and a burst of
 * others' keys is recorded whole.
 *
 * recorded() runs with `data` locked, around the loop's wait: it makes no request on `data`, and
 * does not stop the loop by rouse_loop_stop(), which ends a turn that runs and no wait that is to
 * come.
 */
#include "emitter.h"

#include <rouse/x11.h>

#include <X11/Xlibint.h>
#include <X11/extensions/record.h>
#include <X11/extensions/xtestproto.h>
#include <stdio.h>
#include <string.h>

/* A request to fake input.  The key event that it makes, if any, is recorded directly after it. */
static void request(struct tap *tap, const XRecordInterceptData *data)
{
	const unsigned char *bytes = data->data;

	tap->asked.type = 0;
	if (data->id_base != tap->own || data->data_len * 4 < sz_xXTestFakeInputReq)
		return;
	tap->asked.type = bytes[offsetof(xXTestFakeInputReq, type)];
	tap->asked.key = bytes[offsetof(xXTestFakeInputReq, detail)];
	tap->held[tap->asked.key] = tap->asked.type == KeyPress;
}

static void key(struct tap *tap, int type, KeyCode code)
{
	bool down = type == KeyPress;
	bool own = tap->asked.type == type && tap->asked.key == code;

	tap->asked.type = 0;
	/* The server repeats a key that the emitter holds down, and nobody asks for that. */
	if (own || (down && tap->held[code])) {
		tap->ignored++;
		return;
	}
	tap->others++;
	queue_put(tap->queue, (struct message){.kind = MESSAGE_KEY, .key = code, .down = down});
}

static void recorded(XPointer closure, XRecordInterceptData *data)
{
	struct tap *tap = (void *)closure;

	if (data->category == XRecordFromClient)
		request(tap, data);
	else if (data->category == XRecordFromServer && data->data_len > 0)
		key(tap, data->data[0] & 0x7f, data->data[1]);
	else if (data->category == XRecordEndOfData)
		rouse_remote_stop(tap->remote);
	XRecordFreeData(data);
}

/* What is wrong, or NULL. */
static const char *record_keys(struct tap *tap)
{
	XRecordClientSpec everyone = XRecordAllClients, emitter = tap->own;
	XRecordRange *keys = XRecordAllocRange(), *requests = XRecordAllocRange();
	int opcode, event, error, major, minor;
	const char *why = NULL;

	if (!keys || !requests)
		why = "no memory";
	else if (!XRecordQueryVersion(tap->control, &major, &minor) ||
	         !XQueryExtension(tap->control, XTestExtensionName, &opcode, &event, &error))
		why = "the X server has no RECORD extension, or no XTEST";
	if (!why) {
		keys->device_events.first = KeyPress;
		keys->device_events.last = KeyRelease;
		requests->ext_requests.ext_major.first = (unsigned char)opcode;
		requests->ext_requests.ext_major.last = (unsigned char)opcode;
		requests->ext_requests.ext_minor.first = X_XTestFakeInput;
		requests->ext_requests.ext_minor.last = X_XTestFakeInput;
		tap->context = XRecordCreateContext(tap->control, 0, &everyone, 1, &keys, 1);
		XRecordRegisterClients(tap->control, tap->context, 0, &emitter, 1, &requests, 1);
		XSync(tap->control, False); /* the other connection must find it */
		/* Waits for the first reply: from here on nothing is missed. */
		if (!XRecordEnableContextAsync(tap->data, tap->context, recorded, (XPointer)tap))
			why = "the X server does not record";
	}
	XFree(keys);
	XFree(requests);
	return why;
}

static void on_lost(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct tap *tap = data;

	(void)loop, (void)x11;
	server_gone(tap->data);
}

static void disable(rouse_loop *loop, void *data)
{
	struct tap *tap = data;

	(void)loop;
	XRecordDisableContext(tap->control, tap->context);
	XFlush(tap->control); /* nobody reads this one, so nobody else flushes it */
}

static void *run(void *data)
{
	struct tap *tap = data;
	rouse_x11_options options = {.size = sizeof(options), .data = tap, .lost = on_lost};
	rouse_loop *loop = NULL;
	rouse_x11 *x11 = NULL;
	const char *why = NULL;
	int error;

	tap->control = XOpenDisplay(NULL);
	tap->data = options.display = XOpenDisplay(NULL);
	error = rouse_loop_create(NULL, &loop);
	if (!tap->control || !tap->data)
		why = "no X display";
	else if (error == 0)
		error = rouse_x11_attach(loop, &options, &x11);
	if (!why && error < 0)
		why = rouse_strerror(error);
	if (!why)
		why = record_keys(tap);
	if (why)
		fprintf(stderr, "emitter: no tap: %s\n", why);
	else
		tap->remote = rouse_loop_remote(loop);
	sem_post(&tap->started);

	if (!why && (error = rouse_loop_run(loop)) < 0)
		fprintf(stderr, "emitter: the tap has ended: %s\n", rouse_strerror(error));
	if (tap->context)
		XRecordFreeContext(tap->control, tap->context);
	rouse_x11_detach(x11);
	if (tap->data)
		XCloseDisplay(tap->data);
	if (tap->control)
		XCloseDisplay(tap->control);
	rouse_loop_destroy(loop);
	return NULL;
}

bool tap_start(struct tap *tap, struct queue *queue, XID own)
{
	int error;

	*tap = (struct tap){.queue = queue, .own = own};
	sem_init(&tap->started, 0, 0);
	error = pthread_create(&tap->thread, NULL, run, tap);
	if (error != 0) {
		fprintf(stderr, "emitter: no thread: %s\n", strerror(error));
	} else {
		while (sem_wait(&tap->started) != 0)
			; /* a signal */
		if (tap->remote)
			return true;
		pthread_join(tap->thread, NULL);
	}
	sem_destroy(&tap->started);
	return false;
}

void tap_stop(struct tap *tap)
{
	/* The last reply to come says that it was the last, and ends the loop. */
	if (rouse_post(tap->remote, disable, tap, NULL) < 0)
		rouse_remote_stop(tap->remote);
	pthread_join(tap->thread, NULL);
	rouse_remote_unref(tap->remote);
	sem_destroy(&tap->started);
}
