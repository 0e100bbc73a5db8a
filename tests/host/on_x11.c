/* An X11 display in a guest: the host's own code uses it, too. */
#include "display/fixture.h"
#include "display/xvfb.h"
#include "host.h"

#include <pthread.h>

static struct xvfb server;

static void host_until(const unsigned *what, unsigned least)
{
	while (*what < least)
		host_turn();
}

static struct fixture *open_guest(void)
{
	static struct fixture fixture;
	static const rouse_loop_options epoll = {.size = sizeof epoll, .poller = "epoll"};

	host_open();
	fixture_open(&fixture, &epoll);
	assert_int_equal(host_attach(fixture.loop), 0);
	for (int i = 0; i < 10; i++)
		host_poll();
	return &fixture;
}

static void close_guest(struct fixture *f)
{
	assert_int_equal(host_detach(), 0);
	fixture_close(f);
	host_close();
}

struct own {
	struct fixture *f;
	unsigned ticks;
};

/* A request of the host's own code, that nobody flushes, and whose answer is an event. */
static void send_to_self(void *data)
{
	struct own *own = data;
	XEvent event = {.xclient = {.type = ClientMessage,
	                            .window = own->f->window,
	                            .message_type = XInternAtom(own->f->display, "FOREIGN", False),
	                            .format = 32}};

	own->ticks++;
	XSendEvent(own->f->display, own->f->window, False, NoEventMask, &event);
	host_tick(NULL, NULL);
}

static void x3_what_the_hosts_own_code_asks_for_is_flushed(void **state)
{
	struct own own = {.f = open_guest()};

	(void)state;
	for (unsigned i = 1; i <= 20; i++) {
		host_tick(send_to_self, &own);
		host_until(&own.f->events, i);
	}
	close_guest(own.f);
}

/* It takes the event out of the socket, and leaves it in Xlib's queue. */
static void hide_an_event(void *data)
{
	struct own *own = data;

	own->ticks++;
	fixture_send(own->f, (long)own->ticks);
	XSync(own->f->display, False);
	host_tick(NULL, NULL);
}

static void x1_events_that_the_hosts_own_code_has_read(void **state)
{
	struct own own = {.f = open_guest()};

	(void)state;
	for (unsigned i = 1; i <= 20; i++) {
		host_tick(hide_an_event, &own);
		host_until(&own.f->events, i);
		assert_int_equal(own.f->last, (long)i);
	}
	close_guest(own.f);
}

struct sender {
	struct fixture *f;
	unsigned count;
};

static void *send_many(void *data)
{
	const struct sender *s = data;
	XEvent event = {.xclient = {.type = ClientMessage,
	                            .window = s->f->window,
	                            .message_type = XInternAtom(s->f->other, "FOREIGN", False),
	                            .format = 32}};

	for (unsigned i = 0; i < s->count; i++) {
		XSendEvent(s->f->other, s->f->window, False, NoEventMask, &event);
		if (i % 64 == 0)
			XSync(s->f->other, False);
	}
	XSync(s->f->other, False);
	return NULL;
}

static void count_tick(void *data)
{
	++*(unsigned *)data;
}

static void x4_a_flood_of_events_starves_neither_the_host_nor_timers(void **state)
{
	struct sender s = {.f = open_guest(), .count = fixture_scaled(50000)};
	unsigned ticks = 0, timers = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(
	        rouse_timer_add(s.f->loop, rouse_now(), MS, 0, fixture_count_timer, &timers, NULL),
	        0);
	host_tick(count_tick, &ticks);
	assert_int_equal(pthread_create(&thread, NULL, send_many, &s), 0);
	/* While it goes on. */
	while (s.f->events < s.count / 2)
		host_turn();
	assert_true(ticks > 0);
	assert_true(timers > 0);
	host_until(&s.f->events, s.count);
	pthread_join(thread, NULL);
	host_tick(NULL, NULL);
	close_guest(s.f);
}

static void x5_the_server_is_killed(void **state)
{
	struct fixture *f = open_guest();
	unsigned ticks = 0;

	(void)state;
	XCloseDisplay(f->other);
	f->other = NULL;
	xvfb_kill(&server);
	host_until(&f->lost, 1);
	host_tick(count_tick, &ticks);
	host_until(&ticks, 10);
	host_tick(NULL, NULL);
	assert_int_equal(f->lost, 1);
	close_guest(f);
	xvfb_stop(&server);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x3_what_the_hosts_own_code_asks_for_is_flushed),
	        cmocka_unit_test(x1_events_that_the_hosts_own_code_has_read),
	        cmocka_unit_test(x4_a_flood_of_events_starves_neither_the_host_nor_timers),
	        cmocka_unit_test(x5_the_server_is_killed),
	};

	xvfb_start(&server);
	host_init(&argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
