#include "wayland_subject.h"

#include <rouse/glfw.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* GLFW 3.3 has it only where it was built for Wayland. */
extern struct wl_display *glfwGetWaylandDisplay(void) __attribute__((weak));

static rouse_glfw *attached;

static void on_close(GLFWwindow *window)
{
	((struct wayland_subject *)glfwGetWindowUserPointer(window))->asked_to_close = true;
}

static void on_after(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	(void)loop, (void)glfw;
	((struct wayland_subject *)data)->after++;
}

static void on_lost(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	(void)loop, (void)glfw;
	((struct wayland_subject *)data)->lost++;
}

bool wayland_subject_open(struct wayland_subject *s)
{
	const rouse_glfw_options options = {
	        .size = sizeof(options), .data = s, .after = on_after, .lost = on_lost};

	if (!glfwGetWaylandDisplay)
		return false;
	assert_true(glfwInit());
	s->display = glfwGetWaylandDisplay();
	if (!s->display)
		return false;
	glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
	GLFWwindow *window = glfwCreateWindow(200, 100, "subject", NULL, NULL);
	assert_non_null(window);
	glfwSetWindowUserPointer(window, s);
	glfwSetWindowCloseCallback(window, on_close);
	assert_int_equal(rouse_glfw_attach(s->loop, &options, &attached), 0);
	return true;
}

void wayland_subject_detach(void)
{
	assert_int_equal(rouse_glfw_detach(attached), 0);
}

void wayland_subject_push(void)
{
	glfwPostEmptyEvent();
}
