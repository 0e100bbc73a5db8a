/* Slow work: each piece on a detached thread, which needs no pool.  It ends, and its end drains. */
#include "emitter.h"

#include <rouse/pool.h>

#include <X11/Xutil.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t none_runs = PTHREAD_COND_INITIALIZER;
static unsigned running;

static void begun(void)
{
	pthread_mutex_lock(&lock);
	running++;
	pthread_mutex_unlock(&lock);
}

static void ended(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	if (--running == 0)
		pthread_cond_broadcast(&none_runs);
	pthread_mutex_unlock(&lock);
}

static void close_display(void *display)
{
	XCloseDisplay(display);
}

static void destroy_image(void *image)
{
	XDestroyImage((XImage *)image);
}

/* Megabytes through a socket, and then a call for each pixel. */
static int brightness(Display *display)
{
	XWindowAttributes screen;
	XImage *image;
	unsigned long long sum = 0;

	XGetWindowAttributes(display, DefaultRootWindow(display), &screen);
	image = XGetImage(display, DefaultRootWindow(display), 0, 0, (unsigned)screen.width,
	                  (unsigned)screen.height, AllPlanes, ZPixmap);
	if (!image || !rouse_autorelease(image, destroy_image))
		return -1;
	for (int y = 0; y < screen.height; y++)
		for (int x = 0; x < screen.width; x++) {
			unsigned long pixel = XGetPixel(image, x, y);
			sum += (pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255);
		}
	return (int)(sum * 100 / (255 * 3ull * (unsigned)screen.width * (unsigned)screen.height));
}

static void *look(void *unused)
{
	Display *display;
	int percent = -1;

	/* Releases run newest first: this one tells that all others were made. */
	rouse_autorelease(&running, ended);
	display = XOpenDisplay(NULL);
	if (display && rouse_autorelease(display, close_display))
		percent = brightness(display);
	if (percent < 0)
		fprintf(stderr, "emitter: cannot look at the screen\n");
	else
		printf("brightness: %d %%\n", percent);
	return unused;
}

void slow_look(void)
{
	pthread_attr_t detached;
	pthread_t thread;
	int error;

	begun();
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &detached, look, NULL);
	pthread_attr_destroy(&detached);
	if (error != 0) {
		fprintf(stderr, "emitter: no thread to look at the screen: %s\n", strerror(error));
		ended(NULL);
	}
}

void slow_wait(void)
{
	pthread_mutex_lock(&lock);
	while (running > 0)
		pthread_cond_wait(&none_runs, &lock);
	pthread_mutex_unlock(&lock);
}
