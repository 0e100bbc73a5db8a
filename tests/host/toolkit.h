/* A toolkit's window, for window.c: an area of one colour, which says a number, and a button. */
#ifndef ROUSE_TESTS_TOOLKIT_H
#define ROUSE_TESTS_TOOLKIT_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	/* The area is the left, the button the right half of so many pixels. */
	TOOLKIT_WIDTH = 400,
	TOOLKIT_HEIGHT = 120,
	/* What a dialog, of nothing but a button, covers of the area, from the upper left. */
	TOOLKIT_DIALOG_WIDTH = 180,
	TOOLKIT_DIALOG_HEIGHT = 60,
	/* Of the area, beside a dialog; of the button; of a dialog's button. */
	TOOLKIT_AREA_X = TOOLKIT_WIDTH / 4,
	TOOLKIT_AREA_Y = 100,
	TOOLKIT_BUTTON_X = TOOLKIT_WIDTH * 3 / 4,
	TOOLKIT_BUTTON_Y = TOOLKIT_HEIGHT / 2,
	TOOLKIT_CLOSE_X = 60,
	TOOLKIT_CLOSE_Y = 30
};

extern const char *const toolkit_name;
extern unsigned toolkit_clicks;

/* The window is shown, and the loop is the guest of the toolkit's. */
void toolkit_open(int *argc, char **argv, rouse_loop *loop);
/* One iteration of the toolkit's loop, that waits. */
void toolkit_turn(void);
/* To be drawn when the toolkit draws next. */
void toolkit_show(unsigned number);
/* A modal dialog, as the toolkit has it; returns when its button was pressed. */
void toolkit_dialog(void);
void toolkit_close(void);

struct screen;
/* The area says that number on the screen. */
void toolkit_until_seen(struct screen *screen, rouse_loop *loop, unsigned number);

/* The colour that says a number: 0xrrggbb. */
static inline unsigned toolkit_colour(unsigned number)
{
	return (number * 37 & 255) << 16 | (number * 59 & 255) << 8 | (number * 83 & 255);
}

#ifdef __cplusplus
}
#endif
#endif
