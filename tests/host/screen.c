#include "screen.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <stdio.h>
#include <stdlib.h>

Display *screen_open(void)
{
	Display *screen = XOpenDisplay(NULL);

	if (!screen)
		abort();
	return screen;
}

void screen_close(Display *screen)
{
	XCloseDisplay(screen);
}

/* Of a screen of 24 bits. */
static XImage *look(Display *screen, int x, int y, unsigned width, unsigned height)
{
	XImage *image = XGetImage(screen, DefaultRootWindow(screen), x, y, width, height, AllPlanes,
	                          ZPixmap);

	if (!image)
		abort();
	return image;
}

unsigned screen_pixel(Display *screen, int x, int y)
{
	XImage *image = look(screen, x, y, 1, 1);
	unsigned pixel = (unsigned)XGetPixel(image, 0, 0) & 0xffffff;

	XDestroyImage(image);
	return pixel;
}

void screen_click(Display *screen, int x, int y)
{
	XTestFakeMotionEvent(screen, -1, x, y, CurrentTime);
	XTestFakeButtonEvent(screen, 1, True, CurrentTime);
	XTestFakeButtonEvent(screen, 1, False, CurrentTime);
	XSync(screen, False);
}

void screen_save(Display *screen, int width, int height, const char *path)
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
