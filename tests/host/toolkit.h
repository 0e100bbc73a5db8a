/* A toolkit's window, for window.c: an area of one colour, which says a number, and a button. */
#ifndef ROUSE_TESTS_TOOLKIT_H
#define ROUSE_TESTS_TOOLKIT_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The area is the left, the button the right half of so many pixels. */
enum { TOOLKIT_WIDTH = 400, TOOLKIT_HEIGHT = 120 };

extern const char *const toolkit_name;
extern unsigned toolkit_clicks;

/* The window is shown, and the loop is the guest of the toolkit's. */
void toolkit_open(int *argc, char **argv, rouse_loop *loop);
/* One iteration of the toolkit's loop, that waits. */
void toolkit_turn(void);
/* To be drawn when the toolkit draws next. */
void toolkit_show(unsigned number);
void toolkit_close(void);

/* The colour that says a number: 0xrrggbb. */
static inline unsigned toolkit_colour(unsigned number)
{
	return (number * 37 & 255) << 16 | (number * 59 & 255) << 8 | (number * 83 & 255);
}

#ifdef __cplusplus
}
#endif
#endif
