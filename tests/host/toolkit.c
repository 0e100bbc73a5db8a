#include "toolkit.h"

#include "display/turns.h"
#include "screen.h"

/* The window is no hint: it is looked at on the screen, some frames' time after another.  A look
 * takes long; what draws is of a lower priority than the timer, and has what is between. */
void toolkit_until_seen(struct screen *screen, rouse_loop *loop, unsigned number)
{
	unsigned ticks = 0;
	rouse_source timer;

	assert_int_equal(
	        rouse_timer_add(loop, rouse_now(), 10 * MS, 0, fixture_count_timer, &ticks, &timer),
	        0);
	while (screen_pixel(screen, TOOLKIT_AREA_X, TOOLKIT_AREA_Y) != toolkit_colour(number)) {
		unsigned end = ticks + 5;

		while (ticks < end)
			toolkit_turn();
	}
	assert_int_equal(rouse_remove(loop, timer), 0);
}
