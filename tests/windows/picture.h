/* A window that shows a number, and a square for a click: by GLFW with OpenGL, or by SDL with a
 * surface. */
#ifndef ROUSE_TESTS_PICTURE_H
#define ROUSE_TESTS_PICTURE_H

#include "display/turns.h"

#include <X11/Xlib.h>

enum { PICTURE_WIDTH = 320, PICTURE_HEIGHT = 120, PICTURE_FULL = 1000 };

struct picture {
	rouse_loop *loop;
	Display *display; /* the library's */
	Window window;
	unsigned number; /* up to PICTURE_FULL: the length of a bar, and its colour */
	unsigned clicks;
};

extern const char picture_name[];

/* False where the library has no window of that kind here. */
bool picture_open(struct picture *p);
void picture_draw(struct picture *p);
/* The colour of the bar: red and green are the number's two bytes, blue is full. */
unsigned picture_red(const struct picture *p);
unsigned picture_green(const struct picture *p);
void picture_close(struct picture *p);

#endif
