#include "display/xvfb.h"
#include "screen.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <stdio.h>
#include <stdlib.h>

const char *const screen_system = "x11";
static struct xvfb xvfb;

void screen_start(unsigned width, unsigned height)
{
	/* It is larger than any window here; with nobody to place them, they are in the corner. */
	(void)width, (void)height;
	xvfb_start(&xvfb);
}

void screen_stop(void)
{
	xvfb_stop(&xvfb);
}

const char *screen_server(void)
{
	return "xvfb";
}

/* A connection, and nothing else. */
static Display *server_of(struct screen *screen)
{
	return (Display *)screen;
}

struct screen *screen_open(void)
{
	Display *server = XOpenDisplay(NULL);

	if (!server)
		abort();
	return (struct screen *)server;
}

void screen_close(struct screen *screen)
{
	XCloseDisplay(server_of(screen));
}

/* Of a screen of 24 bits. */
static XImage *look(struct screen *screen, int x, int y, unsigned width, unsigned height)
{
	Display *server = server_of(screen);
	XImage *image = XGetImage(server, DefaultRootWindow(server), x, y, width, height, AllPlanes,
	                          ZPixmap);

	if (!image)
		abort();
	return image;
}

unsigned screen_pixel(struct screen *screen, int x, int y)
{
	XImage *image = look(screen, x, y, 1, 1);
	unsigned pixel = (unsigned)XGetPixel(image, 0, 0) & 0xffffff;

	XDestroyImage(image);
	return pixel;
}

bool screen_has_pointer(const struct screen *screen)
{
	(void)screen;
	return true;
}

void screen_click(struct screen *screen, int x, int y)
{
	Display *server = server_of(screen);

	XTestFakeMotionEvent(server, -1, x, y, CurrentTime);
	XTestFakeButtonEvent(server, 1, True, CurrentTime);
	XTestFakeButtonEvent(server, 1, False, CurrentTime);
	XSync(server, False);
}

void screen_save(struct screen *screen, int width, int height, const char *path)
{
	XImage *image = look(screen, 0, 0, (unsigned)width, (unsigned)height);
	FILE *file = fopen(path, "wb");

	if (!file)
		abort();
	fprintf(file, "P6 %d %d 255\n", width, height);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			unsigned long pixel = XGetPixel(image, x, y);

			fputc((int)(pixel >> 16 & 255), file);
			fputc((int)(pixel >> 8 & 255), file);
			fputc((int)(pixel & 255), file);
		}
	fclose(file);
	XDestroyImage(image);
}
