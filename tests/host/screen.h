/* What a person has before him: the screen of the X server, a pointer and its button.  By a
 * connection of its own, and never in the way of a toolkit's. */
#ifndef ROUSE_TESTS_SCREEN_H
#define ROUSE_TESTS_SCREEN_H

struct screen;

struct screen *screen_open(void);
void screen_close(struct screen *screen);
/* 0xrrggbb. */
unsigned screen_pixel(struct screen *screen, int x, int y);
void screen_click(struct screen *screen, int x, int y);
/* The upper left of the screen, as a portable pixmap. */
void screen_save(struct screen *screen, int width, int height, const char *path);

#endif
