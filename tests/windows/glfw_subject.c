#include "glfw_subject.h"

#include <stdlib.h>
#include <string.h>

const bool subject_has_budget = false;

static struct subject *the_subject;

static void refreshed(GLFWwindow *window)
{
	struct subject *s = the_subject;

	(void)window;
	s->events++;
	if (s->on_event)
		s->on_event(s);
}

static void on_after(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	struct subject *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_ptr_equal(glfw, s->attached);
	s->after++;
	if (s->on_after)
		s->on_after(s);
}

static void on_lost(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	struct subject *s = data;

	(void)loop, (void)glfw;
	s->lost++;
	if (s->on_lost)
		s->on_lost(s);
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

void subject_open(struct subject *s, const rouse_loop_options *loop_options)
{
	rouse_loop_options options = {.size = sizeof(options)};
	rouse_ns period = s->period;

	if (loop_options)
		options = *loop_options;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(s, 0, sizeof(*s));
	s->period = period;
	the_subject = s;
	assert_int_equal(rouse_loop_create(&options, &s->loop), 0);
	assert_true(glfwInit());
	GLFWwindow *window = glfw_subject_window(GLFW_NO_API);
	assert_non_null(window);
	glfwSetWindowRefreshCallback(window, refreshed);
	s->display = glfwGetX11Display();
	s->window = glfwGetX11Window(window);
	s->other = XOpenDisplay(NULL);
	assert_non_null(s->other);
	XSync(s->display, False);
	assert_int_equal(subject_attach(s, s->loop, &s->attached), 0);
	fixture_settle(s->loop);
	s->events = s->after = 0;
}

void subject_quit(struct subject *s)
{
	s->display = NULL;
	glfwTerminate();
}

void subject_close(struct subject *s)
{
	assert_int_equal(rouse_glfw_detach(s->attached), 0);
	if (s->display)
		subject_quit(s);
	if (s->other)
		XCloseDisplay(s->other);
	assert_int_equal(rouse_loop_destroy(s->loop), 0);
}
