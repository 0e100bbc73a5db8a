#include "glfw_subject.h"

#include <string.h>

bool subject_has_budget;

static void on_refresh(GLFWwindow *window)
{
	subject_event(glfwGetWindowUserPointer(window));
}

static void on_close(GLFWwindow *window)
{
	((struct subject *)glfwGetWindowUserPointer(window))->asked_to_close = true;
}

static void on_after(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	struct subject *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_ptr_equal(glfw, s->attached);
	subject_after(s);
}

static void on_lost(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	struct subject *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_ptr_equal(glfw, s->attached);
	subject_lost(s);
}

rouse_glfw_options glfw_subject_options(struct subject *s)
{
	return (rouse_glfw_options){.size = sizeof(rouse_glfw_options),
	                            .data = s,
	                            .period = s->period,
	                            .after = on_after,
	                            .lost = on_lost};
}

GLFWwindow *glfw_subject_window(int client_api)
{
	glfwWindowHint(GLFW_CLIENT_API, client_api);
	return glfwCreateWindow(200, 100, "subject", NULL, NULL);
}

int subject_attach(struct subject *s, rouse_loop *loop, void **ret_attached)
{
	rouse_glfw_options options = glfw_subject_options(s);
	rouse_glfw *glfw;
	int result = rouse_glfw_attach(loop, &options, &glfw);

	if (result == 0)
		*ret_attached = glfw;
	return result;
}

int subject_detach(void *attached)
{
	return rouse_glfw_detach(attached);
}

bool library_open(struct subject *s)
{
	bool on_x11 = !strcmp(server_driver, "x11");

	if (on_x11 ? !glfwGetX11Display : !glfwGetWaylandDisplay)
		return false;
	assert_true(glfwInit());
	GLFWwindow *window = glfw_subject_window(GLFW_NO_API);
	assert_non_null(window);
	glfwSetWindowUserPointer(window, s);
	glfwSetWindowCloseCallback(window, on_close);
	if (on_x11) {
		glfwSetWindowRefreshCallback(window, on_refresh);
		s->display = glfwGetX11Display();
		s->window = glfwGetX11Window(window);
	} else {
		s->wayland = glfwGetWaylandDisplay();
	}
	return true;
}

void library_quit(void)
{
	glfwTerminate();
}

void library_push(void)
{
	glfwPostEmptyEvent();
}

void library_wait(rouse_ns longest)
{
	glfwWaitEventsTimeout((double)longest / 1e9);
}
