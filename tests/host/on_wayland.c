/* A Wayland display in a guest: who may wait for the compositor while the host sleeps. */
#include "display/rival.h"
#include "display/weston.h"
#include "display/wl_fixture.h"
#include "host.h"

static struct weston server;

static void host_until(const unsigned *what, unsigned least)
{
	while (*what < least)
		host_turn();
}

static struct wl_fixture *open_guest(bool sole)
{
	static struct wl_fixture fixture;
	static const rouse_loop_options epoll = {.size = sizeof epoll, .poller = "epoll"};

	host_open();
	wl_fixture_open(&fixture, NULL, &epoll);
	if (sole) {
		rouse_wayland_options options = wl_fixture_options(&fixture);

		wl_fixture_detach(&fixture);
		options.sole_reader = 1;
		assert_int_equal(rouse_wayland_attach(fixture.loop, &options, &fixture.wayland), 0);
	}
	assert_int_equal(host_attach(fixture.loop), 0);
	for (int i = 0; i < 10; i++)
		host_poll();
	return &fixture;
}

static void close_guest(struct wl_fixture *f)
{
	assert_int_equal(host_detach(), 0);
	wl_fixture_close(f);
	host_close();
}

struct own {
	struct wl_fixture *f;
	unsigned round_trips;
};

static void round_trip(void *data)
{
	struct own *own = data;

	assert_true(wl_display_roundtrip(own->f->display) >= 0);
	own->round_trips++;
	wl_fixture_ask(own->f);
}

/* In a callback of the host's, before each of its waits or in the middle of one, as the host has
 * it; an event of the loop's is under way each time. */
static void round_trips(bool sole)
{
	struct own own = {.f = open_guest(sole)};
	unsigned count = fixture_scaled(300);

	host_tick(round_trip, &own);
	while (own.round_trips < count || own.f->events < count)
		host_turn();
	host_tick(NULL, NULL);
	close_guest(own.f);
}

static void y4_round_trips_of_the_hosts_code(void **state)
{
	(void)state;
	round_trips(false);
}

static void y4_round_trips_of_the_hosts_code_for_a_sole_reader(void **state)
{
	(void)state;
	round_trips(true);
}

static void round_trip_in_a_post(rouse_loop *loop, void *data)
{
	(void)loop;
	round_trip(data);
}

static void y4_round_trips_in_callbacks_of_the_loop(void **state)
{
	struct own own = {.f = open_guest(false)};
	rouse_remote *remote = rouse_loop_remote(own.f->loop);

	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		assert_true(rouse_post(remote, round_trip_in_a_post, &own, NULL) >= 0);
		while (own.round_trips < i || own.f->events < i)
			host_turn();
	}
	rouse_remote_unref(remote);
	close_guest(own.f);
}

static void ask(void *data)
{
	wl_fixture_ask(((struct own *)data)->f);
	host_tick(NULL, NULL);
}

/* Asked for by the host's own code, flushed by nobody else. */
static void y1_another_thread_reads_the_same_display(void **state)
{
	struct own own = {.f = open_guest(false)};
	unsigned count = fixture_scaled(300);
	struct rival rival;

	(void)state;
	rival_start(&rival, own.f->display, count);
	for (unsigned i = 1; i <= count; i++) {
		host_tick(ask, &own);
		host_until(&own.f->events, i);
	}
	rival_join(&rival);
	close_guest(own.f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(y4_round_trips_of_the_hosts_code),
	        cmocka_unit_test(y4_round_trips_of_the_hosts_code_for_a_sole_reader),
	        cmocka_unit_test(y4_round_trips_in_callbacks_of_the_loop),
	        cmocka_unit_test(y1_another_thread_reads_the_same_display),
	};

	weston_start(&server);
	host_init(&argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
