/* Each loop of a contract test with a display in it: nothing may be different. */
#include "env.h"

#include <rouse/wayland.h>

#include <wayland-client.h>

void *env_attach(rouse_loop *loop)
{
	struct wl_display *display = wl_display_connect(NULL);
	rouse_wayland_options options = {.size = sizeof options, .display = display};
	rouse_wayland *wayland;

	assert_non_null(display);
	assert_int_equal(rouse_wayland_attach(loop, &options, &wayland), 0);
	return display;
}

void env_disconnect(void *display)
{
	if (display)
		wl_display_disconnect(display);
}
