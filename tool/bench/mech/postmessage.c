/* postmessage: a message posted to the loop's window. */
#include "bench/mech.h"

#include "bench/display/win32_window.h"

static void on_message(void *data, rouse_ns stamp)
{
	struct mech *m = data;

	meter_answer_stamps(&m->meter, &stamp, 1, rouse_loop_now(m->loop));
}

static int postmessage_open(struct mech *m)
{
	m->handle = win32_window_handle(m->window);
	win32_window_on_message(m->window, on_message, m);
	return 0;
}

static int postmessage_fire(struct mech *m, rouse_ns stamp)
{
	return PostMessageW(m->handle, WIN32_STAMP, win32_low(stamp), win32_high(stamp))
	               ? 0
	               : ROUSE_EOS;
}

static void postmessage_close(struct mech *m)
{
	win32_window_on_message(m->window, NULL, NULL);
}

const struct mech_ops mech_postmessage = {
        .name = "postmessage",
        .summary = "PostMessageW() to the loop's window",
        .display = &display_win32,
        .open = postmessage_open,
        .fire = postmessage_fire,
        .close = postmessage_close,
};
