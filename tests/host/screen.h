/* What a person has before him: the screen of the X server, a pointer and its button.  By a
 * connection of its own, and never in the way of a toolkit's. */
#ifndef ROUSE_TESTS_SCREEN_H
#define ROUSE_TESTS_SCREEN_H

struct _XDisplay;

struct _XDisplay *screen_open(void);
void screen_close(struct _XDisplay *screen);
/* 0xrrggbb. */
unsigned screen_pixel(struct _XDisplay *screen, int x, int y);
void screen_click(struct _XDisplay *screen, int x, int y);
/* The upper left of the screen, as a portable pixmap. */
void screen_save(struct _XDisplay *screen, int width, int height, const char *path);

#endif
