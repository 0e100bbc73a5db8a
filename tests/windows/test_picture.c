/* A worker posts a thousand updates a second; the window shows the last one, and has answered a
 * click that came in the middle of them.  What it shows is read back from the server. */
#include "picture.h"

#include "display/xvfb.h"

#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static struct xvfb server;

unsigned picture_red(const struct picture *p)
{
	return p->number >> 8;
}

unsigned picture_green(const struct picture *p)
{
	return p->number & 255;
}

/* ---- A thousand a second ---------------------------------------------------------- */

struct worker {
	struct picture *picture;
	rouse_remote *remote;
	unsigned posted;
	atomic_bool answered; /* the click */
};

static void update(rouse_loop *loop, void *data)
{
	struct picture *p = data;

	(void)loop;
	p->number++;
	picture_draw(p);
}

static void redraw(rouse_loop *loop, void *data)
{
	(void)loop;
	picture_draw(data);
}

/* The last tenth comes after the click was answered, however long that takes; until then the window
 * is drawn at the same pace. */
static void *post_updates(void *data)
{
	struct worker *w = data;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (w->posted < PICTURE_FULL) {
		bool more = w->posted < PICTURE_FULL / 10 * 9 || atomic_load(&w->answered);

		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		if (rouse_post(w->remote, more ? update : redraw, w->picture, NULL) < 0)
			break;
		w->posted += more;
	}
	return NULL;
}

static void click(Display *other, Window window)
{
	Window child;
	int x, y;

	XTranslateCoordinates(other, window, DefaultRootWindow(other), PICTURE_WIDTH / 2,
	                      PICTURE_HEIGHT / 2, &x, &y, &child);
	XTestFakeMotionEvent(other, -1, x, y, CurrentTime);
	XTestFakeButtonEvent(other, 1, True, CurrentTime);
	XTestFakeButtonEvent(other, 1, False, CurrentTime);
	XSync(other, False);
}

/* ---- What it shows ------------------------------------------------------------------ */

static void save(XImage *image)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_picture.ppm", picture_name);
	FILE *file = fopen(name, "wb");
	assert_non_null(file);
	fprintf(file, "P6 %d %d 255\n", image->width, image->height);
	for (int y = 0; y < image->height; y++)
		for (int x = 0; x < image->width; x++) {
			unsigned long pixel = XGetPixel(image, x, y);
			fputc((int)(pixel >> 16 & 255), file);
			fputc((int)(pixel >> 8 & 255), file);
			fputc((int)(pixel & 255), file);
		}
	assert_int_equal(fclose(file), 0);
}

static unsigned long shown(Display *other, Window window, int x, int y)
{
	XImage *image =
	        XGetImage(other, window, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT, AllPlanes, ZPixmap);

	assert_non_null(image);
	save(image);
	unsigned long pixel = XGetPixel(image, x, y) & 0xffffff;
	XDestroyImage(image);
	return pixel;
}

static void window_shows_the_last_of_a_thousand_updates_and_a_click(void **state)
{
	struct picture p = {0};
	struct worker worker = {.picture = &p};
	Display *other = XOpenDisplay(NULL);
	pthread_t thread;

	(void)state;
	assert_non_null(other);
	assert_int_equal(rouse_loop_create(NULL, &p.loop), 0);
	if (!picture_open(&p)) {
		rouse_loop_destroy(p.loop);
		XCloseDisplay(other);
		skip();
	}
	fixture_settle(p.loop);
	worker.remote = rouse_loop_remote(p.loop);
	assert_int_equal(pthread_create(&thread, NULL, post_updates, &worker), 0);
	fixture_until(p.loop, &p.number, PICTURE_FULL / 2);
	click(other, p.window);
	fixture_until(p.loop, &p.clicks, 1);
	assert_true(p.number < PICTURE_FULL);
	atomic_store(&worker.answered, true);
	fixture_until(p.loop, &p.number, PICTURE_FULL);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(worker.posted, PICTURE_FULL);
	fixture_settle(p.loop);
	XSync(p.display, False);
	assert_int_equal(p.number, PICTURE_FULL);
	assert_int_equal(p.clicks, 1);
	/* At its far end the bar has the last number's colour, and it is full. */
	assert_int_equal(shown(other, p.window, PICTURE_WIDTH - 1, 60),
	                 picture_red(&p) << 16 | picture_green(&p) << 8 | 255);
	assert_int_equal(shown(other, p.window, 20, 20), 0xffffff);
	assert_int_equal(shown(other, p.window, 100, 20), 0);
	rouse_remote_unref(worker.remote);
	picture_close(&p);
	XCloseDisplay(other);
	assert_int_equal(rouse_loop_destroy(p.loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(window_shows_the_last_of_a_thousand_updates_and_a_click),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
