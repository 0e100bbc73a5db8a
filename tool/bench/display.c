#include "bench/display.h"

#include "interrupt.h"
#include "tool.h"

bool window_wait(struct window *w, const struct display_ops *display, const unsigned *done)
{
	rouse_ns give_up = rouse_now() + 5 * TOOL_NS_PER_SEC;
	int rc = 0;

	while (rc >= 0 && *done == 0 && !w->lost && !interrupt_caught() && rouse_now() < give_up)
		rc = rouse_loop_turn(w->loop, give_up);
	if (*done > 0 || interrupt_caught())
		return *done > 0;
	if (rc < 0)
		tool_complain("the loop %s failed: %s", display->loop, rouse_strerror(rc));
	else if (w->lost)
		tool_complain("%s went away", display->server);
	else
		tool_complain("the window was not shown within 5 s");
	return false;
}

void window_lost(struct window *w)
{
	w->lost = true;
	events_add(w->events, EVENT_STEP, "display_lost", NULL, 0);
	rouse_loop_stop(w->loop);
}
