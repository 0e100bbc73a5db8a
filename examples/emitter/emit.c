/* Emits keys through XTEST; the one place that autoreleases, and so the one that has a pool. */
#include "emitter.h"

#include <rouse/pool.h>

#include <X11/Xlib-xcb.h>
#include <X11/extensions/XTest.h>
#include <stdio.h>
#include <string.h>

struct event {
	KeyCode key;
	bool down;
};

bool emitter_open(struct emitter *emitter)
{
	int event, error, major, minor;

	emitter->display = XOpenDisplay(NULL);
	if (!emitter->display) {
		fprintf(stderr, "emitter: cannot open the X display \"%s\"\n", XDisplayName(NULL));
		return false;
	}
	if (!XTestQueryExtension(emitter->display, &event, &error, &major, &minor)) {
		fprintf(stderr, "emitter: the X server has no XTEST extension\n");
		emitter_close(emitter);
		return false;
	}
	emitter->own = xcb_get_setup(XGetXCBConnection(emitter->display))->resource_id_base;
	return true;
}

void emitter_close(struct emitter *emitter)
{
	XCloseDisplay(emitter->display);
	emitter->display = NULL;
}

/* The caller's: there is nothing to drain. */
struct event *event_create(KeyCode key, bool down)
{
	struct event *event = object_create(sizeof(*event));

	if (event)
		*event = (struct event){.key = key, .down = down};
	return event;
}

/*
 * The call that autoreleases.  It stands for one that ships a serialized event to the server and
 * hands what it was serialized into to the pool, as CGEventPost() does: an object and its bytes,
 * two allocations of 574 bytes in all.  XTEST itself leaves nothing behind.
 *
 * Always inlined: so it is emit_key() that a warning names, which has to have the pool.
 */
static inline __attribute__((always_inline)) bool post(struct emitter *emitter,
                                                       const struct event *event)
{
	enum { OBJECT = 287, BYTES = 287 };
	char *object = rouse_autorelease(object_create(OBJECT), object_release);
	char *bytes = rouse_autorelease(object_create(BYTES), object_release);

	if (!object || !bytes)
		return false;
	memcpy(object, &bytes, sizeof(bytes));
	memcpy(bytes, event, sizeof(*event));
	XTestFakeKeyEvent(emitter->display, event->key, event->down, CurrentTime);
	XFlush(emitter->display);
	emitter->emitted++;
	return true;
}

bool emit_key(struct emitter *emitter, KeyCode key, bool down)
{
	struct event *event = event_create(key, down);
	bool posted = false;

	if (!event)
		return false;
	if (emitter->without_pool) {
		posted = post(emitter, event);
	} else {
		/* Around the call that allocates, once for each: a pool around event_create() would
		 * drain nothing, one around many posts holds what they leave for longer. */
		ROUSE_POOL_SCOPE
		{
			posted = post(emitter, event);
		}
	}
	object_release(event);
	return posted;
}
