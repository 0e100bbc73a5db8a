/* What is GLFW's own: bad input, its empty event, its callbacks. */
#include "glfw_subject.h"

#include <X11/Xlib.h>
#include <pthread.h>
#include <string.h>

static void attach_refuses_what_is_not_initialised(void **state)
{
	const rouse_glfw_options options = {.size = sizeof(options)};
	rouse_glfw *glfw = NULL;
	rouse_loop *loop;

	(void)state;
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	assert_int_equal(rouse_glfw_attach(loop, &options, &glfw), ROUSE_EINVAL);
	assert_null(glfw);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void attach_refuses_bad_arguments(void **state)
{
	struct subject s = {0};
	rouse_glfw *glfw = (rouse_glfw *)1;
	struct {
		rouse_glfw_options options;
		unsigned char tail;
	} larger = {.tail = 1};

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_glfw_detach(s.attached), 0);
	rouse_glfw_options good = glfw_subject_options(&s), bad = good;
	assert_int_equal(rouse_glfw_attach(NULL, &good, &glfw), ROUSE_EINVAL);
	assert_int_equal(rouse_glfw_attach(s.loop, NULL, &glfw), ROUSE_EINVAL);
	assert_int_equal(rouse_glfw_attach(s.loop, &good, NULL), ROUSE_EINVAL);
	/* Shorter than the first version. */
	for (bad.size = 0; bad.size < sizeof(good); bad.size++)
		assert_int_equal(rouse_glfw_attach(s.loop, &bad, &glfw), ROUSE_EINVAL);
	larger.options = good;
	larger.options.size = sizeof(larger);
	assert_int_equal(rouse_glfw_attach(s.loop, &larger.options, &glfw), ROUSE_EABI);
	assert_ptr_equal(glfw, (rouse_glfw *)1);
	assert_int_equal(rouse_glfw_detach(NULL), 0);
	/* No callback at all: GLFW's own run. */
	const rouse_glfw_options none = {.size = sizeof(none)};
	assert_int_equal(rouse_glfw_attach(s.loop, &none, &glfw), 0);
	s.attached = glfw;
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	subject_close(&s);
}

static void *from_elsewhere(void *data)
{
	struct subject *s = data;
	const rouse_glfw_options options = glfw_subject_options(s);
	rouse_glfw *glfw;

	return rouse_glfw_attach(s->loop, &options, &glfw) == ROUSE_EWRONGTHREAD &&
	                       rouse_glfw_detach(s->attached) == ROUSE_EWRONGTHREAD
	               ? data
	               : NULL;
}

static void l7_wrong_thread(void **state)
{
	struct subject s = {0};
	pthread_t thread;
	void *refused;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(pthread_create(&thread, NULL, from_elsewhere, &s), 0);
	assert_int_equal(pthread_join(thread, &refused), 0);
	assert_non_null(refused);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	subject_close(&s);
}

/* ---- What its documentation says of it ------------------------------------------ */

static void *post_empty(void *data)
{
	glfwPostEmptyEvent();
	return data;
}

static void empty_event_ends_glfws_wait_and_not_the_loops(void **state)
{
	struct subject s = {0};
	pthread_t thread;
	unsigned ticks = 0;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(pthread_create(&thread, NULL, post_empty, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 50 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_until(s.loop, &ticks, 1);
	assert_int_equal(s.after, 0);
	/* It is there, all the same. */
	rouse_ns before = rouse_now();
	glfwWaitEventsTimeout(LONG / 1e9);
	assert_true(rouse_now() - before < SOON);
	subject_close(&s);
}

static unsigned closes;

static void on_close(GLFWwindow *window)
{
	(void)window;
	closes++;
}

/* A window that is made while attached, and one that goes. */
static void windows_come_and_go_while_attached(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	GLFWwindow *second = glfw_subject_window(GLFW_NO_API);
	assert_non_null(second);
	glfwSetWindowCloseCallback(second, on_close);
	XEvent event = {.xclient = {.type = ClientMessage, .format = 32}};
	event.xclient.window = glfwGetX11Window(second);
	event.xclient.message_type = XInternAtom(s.other, "WM_PROTOCOLS", False);
	event.xclient.data.l[0] = (long)XInternAtom(s.other, "WM_DELETE_WINDOW", False);
	/* The window is the server's before another client sends to it. */
	fixture_settle(s.loop);
	XSync(s.display, False);
	XSendEvent(s.other, event.xclient.window, False, NoEventMask, &event);
	XFlush(s.other);
	fixture_until(s.loop, &closes, 1);
	assert_true(glfwWindowShouldClose(second));
	glfwDestroyWindow(second);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_what_is_not_initialised),
	        cmocka_unit_test(attach_refuses_bad_arguments),
	        cmocka_unit_test(l7_wrong_thread),
	        cmocka_unit_test(empty_event_ends_glfws_wait_and_not_the_loops),
	        cmocka_unit_test(windows_come_and_go_while_attached),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
