/* What is SDL's own: bad input, events that other threads push, the focus. */
#define SDL_MAIN_HANDLED
#include "sdl_subject.h"

#include <X11/Xlib.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Bad input --------------------------------------------------------------------- */

static void attach_refuses_bad_arguments(void **state)
{
	struct subject s = {0};
	rouse_sdl *sdl = (rouse_sdl *)1;
	struct {
		rouse_sdl_options options;
		unsigned char tail;
	} larger = {.tail = 1};

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_sdl_detach(s.attached), 0);
	rouse_sdl_options good = sdl_subject_options(&s), bad = good;
	assert_int_equal(rouse_sdl_attach(NULL, &good, &sdl), ROUSE_EINVAL);
	assert_int_equal(rouse_sdl_attach(s.loop, NULL, &sdl), ROUSE_EINVAL);
	assert_int_equal(rouse_sdl_attach(s.loop, &good, NULL), ROUSE_EINVAL);
	bad.window = NULL;
	assert_int_equal(rouse_sdl_attach(s.loop, &bad, &sdl), ROUSE_EINVAL);
	/* Memory that is no window. */
	static long long no_window[64];
	bad.window = (SDL_Window *)(void *)no_window;
	assert_int_equal(rouse_sdl_attach(s.loop, &bad, &sdl), ROUSE_EINVAL);
	bad = good;
	/* Shorter than the first version. */
	for (bad.size = 0; bad.size < sizeof(good); bad.size++)
		assert_int_equal(rouse_sdl_attach(s.loop, &bad, &sdl), ROUSE_EINVAL);
	larger.options = good;
	larger.options.size = sizeof(larger);
	assert_int_equal(rouse_sdl_attach(s.loop, &larger.options, &sdl), ROUSE_EABI);
	assert_ptr_equal(sdl, (rouse_sdl *)1);
	assert_int_equal(rouse_sdl_detach(NULL), 0);
	/* No callback at all: events are thrown away. */
	const rouse_sdl_options none = {.size = sizeof(none), .window = sdl_subject_window};
	assert_int_equal(rouse_sdl_attach(s.loop, &none, &sdl), 0);
	s.attached = sdl;
	subject_send(&s, 1);
	fixture_prompt_turn(s.loop);
	fixture_settle(s.loop);
	assert_false(SDL_HasEvents(SDL_FIRSTEVENT, SDL_LASTEVENT));
	subject_close(&s);
}

static void attach_refuses_what_has_no_connection(void **state)
{
	rouse_sdl_options options = {.size = sizeof(options)};
	rouse_sdl *sdl;
	rouse_loop *loop;

	(void)state;
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	/* SDL is not there. */
	options.window = (SDL_Window *)(void *)&options;
	assert_int_equal(rouse_sdl_attach(loop, &options, &sdl), ROUSE_EINVAL);
	/* A driver without a server. */
	SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
	assert_int_equal(SDL_Init(SDL_INIT_VIDEO), 0);
	options.window = SDL_CreateWindow("none", 0, 0, 10, 10, 0);
	assert_non_null(options.window);
	assert_int_equal(rouse_sdl_attach(loop, &options, &sdl), ROUSE_ENOTSUP);
	SDL_Quit();
	SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11");
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void *from_elsewhere(void *data)
{
	struct subject *s = data;
	const rouse_sdl_options options = sdl_subject_options(s);
	rouse_sdl *sdl;

	return rouse_sdl_attach(s->loop, &options, &sdl) == ROUSE_EWRONGTHREAD &&
	                       rouse_sdl_detach(s->attached) == ROUSE_EWRONGTHREAD
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

/* ---- Events of other threads ------------------------------------------------------- */

static unsigned pushed, focus_lost;

static void count_pushed(struct subject *s, const SDL_Event *event)
{
	(void)s;
	pushed += event->type == SDL_USEREVENT;
	focus_lost +=
	        event->type == SDL_WINDOWEVENT && event->window.event == SDL_WINDOWEVENT_FOCUS_LOST;
}

struct pusher {
	unsigned count;
	pthread_t thread;
};

static void *push(void *data)
{
	struct pusher *p = data;
	SDL_Event event = {.type = SDL_USEREVENT};

	for (unsigned i = 0; i < p->count; i++)
		while (SDL_PushEvent(&event) < 0)
			;
	return NULL;
}

static void q1_pushes_of_another_thread_end_the_sleep(void **state)
{
	struct subject s = {0};
	struct pusher p = {.count = fixture_scaled(10000)};

	(void)state;
	subject_open(&s, NULL);
	sdl_subject_event = count_pushed;
	pushed = 0;
	assert_int_equal(pthread_create(&p.thread, NULL, push, &p), 0);
	while (pushed < p.count)
		fixture_prompt_turn(s.loop);
	assert_int_equal(pthread_join(p.thread, NULL), 0);
	fixture_settle(s.loop);
	assert_int_equal(pushed, p.count);
	subject_close(&s);
}

/* After ours, since SDL calls watches in the order in which they were added: the event is
 * announced, and for a while not queued. */
static int dawdle(void *data, SDL_Event *event)
{
	struct pusher *p = data;

	if (event->type == SDL_USEREVENT && pthread_equal(pthread_self(), p->thread))
		SDL_Delay(50);
	return 0;
}

/* The loop has been woken, has looked, and sleeps again before the event is in the queue. */
static void w3_push_that_is_queued_after_the_look(void **state)
{
	struct subject s = {0};
	struct pusher p = {.count = 1};

	(void)state;
	subject_open(&s, NULL);
	sdl_subject_event = count_pushed;
	pushed = 0;
	SDL_AddEventWatch(dawdle, &p);
	assert_int_equal(pthread_create(&p.thread, NULL, push, &p), 0);
	while (!pushed)
		fixture_prompt_turn(s.loop);
	assert_int_equal(pthread_join(p.thread, NULL), 0);
	SDL_DelEventWatch(dawdle, &p);
	subject_close(&s);
}

static int drop_user_events(void *data, SDL_Event *event)
{
	(void)data;
	return event->type != SDL_USEREVENT;
}

/* Announced, and taken out of the queue by somebody else: the loop looks a few times, and sleeps.
 */
static void w20_push_that_never_comes_is_not_waited_for_for_ever(void **state)
{
	struct subject s = {0};
	struct pusher p = {.count = 1};
	unsigned ticks = 0, turns = 0;

	(void)state;
	subject_open(&s, NULL);
	sdl_subject_event = count_pushed;
	pushed = 0;
	assert_int_equal(pthread_create(&p.thread, NULL, push, &p), 0);
	assert_int_equal(pthread_join(p.thread, NULL), 0);
	SDL_FilterEvents(drop_user_events, NULL);
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 1500 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	while (ticks == 0) {
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	/* Five looks, the wake, and the timer. */
	assert_in_range(turns, 2, 9);
	/* The next one is not mistaken for the one that is missing, which is forgotten. */
	assert_int_equal(pthread_create(&p.thread, NULL, push, &p), 0);
	while (!pushed)
		fixture_prompt_turn(s.loop);
	assert_int_equal(pthread_join(p.thread, NULL), 0);
	fixture_settle(s.loop);
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 300 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	turns = 0;
	while (ticks == 1) {
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	assert_in_range(turns, 1, 2);
	subject_close(&s);
}

static Uint32 SDLCALL on_sdl_timer(Uint32 interval, void *data)
{
	SDL_Event event = {.type = SDL_USEREVENT};

	(void)data;
	SDL_PushEvent(&event);
	return interval;
}

/* SDL's timers have a thread of their own. */
static void t1_timers_of_sdl_push_events(void **state)
{
	struct subject s = {0};

	(void)state;
#ifdef __SANITIZE_THREAD__
	/* SDL destroys a mutex that it does not see its timers' thread leave. */
	skip();
#endif
	subject_open(&s, NULL);
	sdl_subject_event = count_pushed;
	pushed = 0;
	SDL_TimerID timer = SDL_AddTimer(5, on_sdl_timer, NULL);
	assert_true(timer != 0);
	fixture_until(s.loop, &pushed, 10);
	SDL_RemoveTimer(timer);
	subject_close(&s);
}

/* ---- Fork ------------------------------------------------------------------------ */

struct stuck {
	pthread_t thread;
	sem_t inside, leave;
};

/* SDL holds its mutex around its watches. */
static int wait_inside(void *data, SDL_Event *event)
{
	struct stuck *stuck = data;

	if (event->type == SDL_USEREVENT) {
		sem_post(&stuck->inside);
		sem_wait(&stuck->leave);
	}
	return 0;
}

static void *push_one(void *data)
{
	library_push();
	return data;
}

/* In the child that thread is gone, and the mutex is taken. */
static void f10_fork_while_another_thread_pushes(void **state)
{
	struct subject s = {0};
	struct stuck stuck;
	int status = 0;

	(void)state;
	subject_open(&s, NULL);
	sem_init(&stuck.inside, 0, 0);
	sem_init(&stuck.leave, 0, 0);
	SDL_AddEventWatch(wait_inside, &stuck);
	assert_int_equal(pthread_create(&stuck.thread, NULL, push_one, NULL), 0);
	sem_wait(&stuck.inside);
	pid_t child = fork();
	if (child == 0) {
		/* A hang ends, too. */
		alarm(10);
		_exit(rouse_loop_after_fork(s.loop) || rouse_sdl_detach(s.attached) ||
		      rouse_loop_turn(s.loop, 0) < 0 || rouse_loop_destroy(s.loop));
	}
	sem_post(&stuck.leave);
	assert_int_equal(pthread_join(stuck.thread, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	SDL_DelEventWatch(wait_inside, &stuck);
	sdl_subject_event = count_pushed;
	pushed = 0;
	fixture_until(s.loop, &pushed, 1);
	subject_close(&s);
}

/* ---- Moments of SDL's ---------------------------------------------------------------- */

static void focus_is_told_without_another_event(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	sdl_subject_event = count_pushed;
	focus_lost = 0;
	XSetInputFocus(s.other, s.window, RevertToNone, CurrentTime);
	XSync(s.other, False);
	while (SDL_GetKeyboardFocus() != sdl_subject_window)
		fixture_prompt_turn(s.loop);
	XSetInputFocus(s.other, None, RevertToNone, CurrentTime);
	XSync(s.other, False);
	fixture_until(s.loop, &focus_lost, 1);
	subject_close(&s);
}

static void detach_at_the_last(struct subject *s, const SDL_Event *event)
{
	(void)event;
	if (s->attached && !SDL_HasEvents(SDL_FIRSTEVENT, SDL_LASTEVENT)) {
		assert_int_equal(rouse_sdl_detach(s->attached), 0);
		s->attached = NULL;
		sdl_subject_event = NULL;
	}
}

static void l3_detach_in_the_last_event_of_a_turn(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	sdl_subject_event = detach_at_the_last;
	subject_send(&s, 1);
	while (sdl_subject_event)
		fixture_prompt_turn(s.loop);
	fixture_settle(s.loop);
	assert_int_equal(s.after, 0);
	subject_close(&s);
}

/* What other loops of SDL's do: a callback that polls by itself. */
static void poll_all(struct subject *s)
{
	SDL_Event event;

	while (SDL_PollEvent(&event))
		s->events += event.type == SDL_SYSWMEVENT &&
		             event.syswm.msg->msg.x11.event.type == Expose;
}

static void callback_may_poll_by_itself(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	s.on_event = poll_all;
	subject_send(&s, 10);
	fixture_until(s.loop, &s.events, 10);
	fixture_settle(s.loop);
	assert_int_equal(s.events, 10);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 11);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_what_has_no_connection),
	        cmocka_unit_test(attach_refuses_bad_arguments),
	        cmocka_unit_test(l7_wrong_thread),
	        cmocka_unit_test(q1_pushes_of_another_thread_end_the_sleep),
	        cmocka_unit_test(w3_push_that_is_queued_after_the_look),
	        cmocka_unit_test(w20_push_that_never_comes_is_not_waited_for_for_ever),
	        cmocka_unit_test(t1_timers_of_sdl_push_events),
	        cmocka_unit_test(f10_fork_while_another_thread_pushes),
	        cmocka_unit_test(focus_is_told_without_another_event),
	        cmocka_unit_test(l3_detach_in_the_last_event_of_a_turn),
	        cmocka_unit_test(callback_may_poll_by_itself),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
