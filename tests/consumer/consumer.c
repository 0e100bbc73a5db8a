/* What a user's first program does, in the common part of C99, C11 and C++. */
#include <rouse/rouse.h>
#include <rouse/null.h>
#include <rouse/version.h>
#include <string.h>
#ifdef CONSUMER_X11
#include <rouse/x11.h>
#endif
#ifdef CONSUMER_XCB
#include <rouse/xcb.h>
#endif
#ifdef CONSUMER_WAYLAND
#include <rouse/wayland.h>
#endif
#ifdef CONSUMER_GLFW
#include <rouse/glfw.h>
#endif
#ifdef CONSUMER_SDL
#include <rouse/sdl.h>
#endif
#ifdef CONSUMER_GLIB
#include <rouse/glib.h>
#endif
#ifdef CONSUMER_UV
#include <rouse/uv.h>
#endif

static void woken(rouse_loop *loop, void *data)
{
	*(int *)data += 1;
	(void)rouse_loop_stop(loop);
}

static int run(const char *poller)
{
	rouse_loop_options options;
	rouse_loop *loop;
	rouse_waker *waker;
	int runs = 0;

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.poller = poller;
	if (rouse_loop_create(&options, &loop) < 0)
		return 1;
	if (rouse_waker_create(loop, woken, &runs, &waker) < 0)
		return 2;
	if (rouse_wake(waker) < 0 || rouse_loop_run(loop) < 0)
		return 3;
	rouse_waker_unref(waker);
	if (rouse_loop_destroy(loop) < 0)
		return 4;
	return runs == 1 ? 0 : 5;
}

int main(void)
{
	int status = run(NULL);

	if (status == 0)
		status = run("null");
	if (rouse_version() != ROUSE_VERSION)
		status = 6;
#ifdef CONSUMER_X11
	if (rouse_x11_detach(NULL) < 0)
		status = 7;
#endif
#ifdef CONSUMER_XCB
	if (rouse_xcb_detach(NULL) < 0)
		status = 8;
#endif
#ifdef CONSUMER_WAYLAND
	if (rouse_wayland_detach(NULL) < 0)
		status = 9;
#endif
#ifdef CONSUMER_GLFW
	if (rouse_glfw_detach(NULL) < 0)
		status = 12;
#endif
#ifdef CONSUMER_SDL
	if (rouse_sdl_detach(NULL) < 0)
		status = 13;
#endif
#ifdef CONSUMER_GLIB
	if (rouse_glib_detach(NULL) < 0)
		status = 10;
#endif
#ifdef CONSUMER_UV
	if (rouse_uv_detach(NULL) < 0)
		status = 11;
#endif
	return status;
}
