/* clientmessage: the native user event of X11, sent through the server by a second connection. */
#include "bench/mech.h"

#include <rouse/x11.h>

#include "bench/display/x11_window.h"

static void on_message(void *data, uint64_t payload, rouse_ns now)
{
	struct mech *m = data;

	meter_answer_stamps(&m->meter, &payload, 1, now);
}

static int clientmessage_open(struct mech *m)
{
	rouse_x11_injector *injector;
	int rc = x11_window_injector(m->window, &injector);

	if (rc < 0)
		return rc;
	m->handle = injector;
	x11_window_on_message(m->window, on_message, m);
	return 0;
}

static int clientmessage_fire(struct mech *m, rouse_ns stamp)
{
	return rouse_x11_injector_send(m->handle, stamp);
}

static void clientmessage_close(struct mech *m)
{
	x11_window_on_message(m->window, NULL, NULL);
	m->handle = rouse_x11_injector_unref(m->handle);
}

const struct mech_ops mech_clientmessage = {
        .name = "clientmessage",
        .summary = "ClientMessage to the loop's window, on a connection of its own",
        .display = &display_x11,
        .open = clientmessage_open,
        .fire = clientmessage_fire,
        .close = clientmessage_close,
};
