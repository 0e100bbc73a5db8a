/*
 * GLFW in a loop: window.h says when its pump, glfwPollEvents(), is called.
 *
 * GLFW 3.3 is built for one platform and has the native functions of that alone; 3.4 has those
 * of all, and tells which one it runs on.  So they are weak here, and asked for at run time.
 *
 * User code runs under the pump (GLFW's callbacks), after and lost, and any of them may detach:
 * what comes after such a call looks at `gone` first, and the struct lives until the last frame
 * that uses it has left.
 */
#include "window.h"

#include <rouse/glfw.h>

#include <GLFW/glfw3.h>
#include <assert.h>
#include <stddef.h>

extern struct _XDisplay *glfwGetX11Display(void) __attribute__((weak));
extern struct wl_display *glfwGetWaylandDisplay(void) __attribute__((weak));
extern int glfwGetPlatform(void) __attribute__((weak));

/* As in GLFW 3.4. */
enum { ON_WAYLAND = 0x00060003, ON_X11 = 0x00060004 };

struct rouse_glfw {
	rouse_loop *loop;
	rouse_allocator allocator;
	rouse_glfw_options options;
	rouse_source hook;
	struct rouse__window window;
	unsigned depth; /* frames of ours that use this struct and that user code may be under */
	bool gone;      /* detached; freed when depth is 0 */
};

static const void *attached;

static void leave(rouse_glfw *glfw)
{
	assert(glfw->depth > 0);
	if (--glfw->depth == 0 && glfw->gone)
		glfw->allocator.free(glfw, sizeof(*glfw), glfw->allocator.ctx);
}

/* ---- GLFW's connection ---------------------------------------------------------- */

/* One of the two, or neither where GLFW is not initialised.  ROUSE_EINVAL, ROUSE_ENOTSUP, or 0. */
static int ask_connection(struct rouse__window *window)
{
	int platform = glfwGetPlatform     ? glfwGetPlatform()
	               : glfwGetX11Display ? ON_X11
	                                   : ON_WAYLAND;

	if (platform == ON_X11 && glfwGetX11Display)
		window->x11 = glfwGetX11Display();
	else if (platform == ON_WAYLAND && glfwGetWaylandDisplay)
		window->wayland = glfwGetWaylandDisplay();
	else
		return platform ? ROUSE_ENOTSUP : ROUSE_EINVAL;
	return 0;
}

/* Against the rules; what is left of its connection must not be looked at. */
static bool is_terminated(const struct rouse__window *window)
{
	struct rouse__window now = {0};

	return ask_connection(&now) < 0 || now.x11 != window->x11 || now.wayland != window->wayland;
}

/* ---- The hook ---------------------------------------------------------------- */

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	rouse_glfw *glfw = data;

	glfw->window.lost = glfw->window.lost || is_terminated(&glfw->window);
	if (rouse__window_prepare(&glfw->window, loop, self, flags))
		return 0;
	return glfw->window.lost ? ROUSE_NEVER : glfw->window.due;
}

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	rouse_glfw *glfw = data;

	(void)self;
	return rouse__window_check(&glfw->window, loop, ready);
}

/* One call, whatever runs in it. */
static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	rouse_glfw *glfw = data;
	const rouse_glfw_options *to = &glfw->options;

	(void)self, (void)budget;
	glfw->depth++;
	if (glfw->window.lost) {
		glfw->window.lost_told = true;
		if (to->lost)
			to->lost(loop, glfw, to->data);
	} else {
		rouse__window_pumps(&glfw->window, loop);
		glfwPollEvents();
		if (!glfw->gone && to->after)
			to->after(loop, glfw, to->data);
	}
	leave(glfw);
	return 1;
}

/* ---- Attach and detach --------------------------------------------------------- */

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_glfw *glfw = data;

	(void)loop;
	glfw->depth++;
	glfw->gone = true;
	rouse__window_let_go(&glfw->window);
	rouse__window_delist(&attached, glfw);
	leave(glfw);
}

/* ROUSE_EINVAL, ROUSE_ENOTSUP, ROUSE_ELOST, or 0. */
static int find_connection(struct rouse__window *window)
{
	int result = ask_connection(window);

	if (result == 0 && !window->x11 && !window->wayland)
		result = ROUSE_EINVAL;
	return result == 0 ? rouse__window_init(window) : result;
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_glfw_options, lost) + sizeof(((rouse_glfw_options *)0)->lost))

int rouse_glfw_attach(rouse_loop *loop, const rouse_glfw_options *options, rouse_glfw **ret_glfw)
{
	rouse_glfw_options copy;

	if (!loop || !options || !ret_glfw)
		return ROUSE_EINVAL;
	struct rouse__window window = {0};
	int result =
	        rouse__display_options(&copy, sizeof(copy), LEAST_OPTIONS, options, options->size);
	if (result == 0)
		result = rouse__display_thread(loop);
	if (result == 0)
		result = find_connection(&window);
	if (result < 0)
		return result;
	window.period = copy.period;

	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	rouse_glfw *glfw = allocator->alloc(sizeof(*glfw), allocator->ctx);
	if (!glfw)
		return ROUSE_ENOMEM;
	*glfw = (rouse_glfw){
	        .loop = loop, .allocator = *allocator, .options = copy, .window = window};
	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = rouse__window_fd(&window),
	                         .events = ROUSE_READABLE,
	                         .prepare = prepare,
	                         .check = check,
	                         .dispatch = dispatch,
	                         .release = release};
	result = rouse_hook_add(loop, &hook, glfw, &glfw->hook);
	if (result < 0) {
		allocator->free(glfw, sizeof(*glfw), allocator->ctx);
		return result;
	}
	result = rouse__window_enlist(&attached, glfw);
	if (result < 0) {
		rouse_remove(loop, glfw->hook);
		return result;
	}
	*ret_glfw = glfw;
	return 0;
}

int rouse_glfw_detach(rouse_glfw *glfw)
{
	return glfw ? rouse_remove(glfw->loop, glfw->hook) : 0;
}
