/* What a person has before him: a screen of a server, a pointer and its button.  By a connection of
 * its own, and never in the way of a toolkit's. */
#ifndef ROUSE_TESTS_SCREEN_H
#define ROUSE_TESTS_SCREEN_H

#include <stdbool.h>

struct screen;

/* The server, of the main thread; its screen has place for a window of that size at least, which
 * is then in its upper left. */
void screen_start(unsigned width, unsigned height);
void screen_stop(void);
/* "x11" or "wayland", and the server's name. */
extern const char *const screen_system;
const char *screen_server(void);

/* For one thread. */
struct screen *screen_open(void);
void screen_close(struct screen *screen);
/* 0xrrggbb. */
unsigned screen_pixel(struct screen *screen, int x, int y);
/* Whether there is a pointer to click with. */
bool screen_has_pointer(const struct screen *screen);
void screen_click(struct screen *screen, int x, int y);
/* The upper left of the screen, as a portable pixmap. */
void screen_save(struct screen *screen, int width, int height, const char *path);

#endif
