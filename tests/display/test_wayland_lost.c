/* The compositor dies, or says why it hangs up, and the process lives. */
#include "weston.h"
#include "wl_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct weston server;

/* After the loss: told once, nothing spins, the rest works, and all of it ends in time. */
static void after_loss(struct wl_fixture *f)
{
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	unsigned ticks = 0, woken = 0, events = f->events;
	rouse_source timer;
	rouse_waker *waker;

	fixture_until(f->loop, &f->lost, 1);
	assert_int_equal(rouse_loop_stats(f->loop, &before), 0);
	assert_int_equal(rouse_timer_add(f->loop, rouse_now(), 10 * MS, 0, fixture_count_timer,
	                                 &ticks, &timer),
	                 0);
	fixture_until(f->loop, &ticks, 20);
	assert_int_equal(rouse_loop_stats(f->loop, &after), 0);
	assert_true(after.turns - before.turns < 100);
	assert_int_equal(rouse_waker_create(f->loop, fixture_count_wake, &woken, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(f->loop, &woken, 1);
	rouse_waker_unref(waker);
	/* Requests do no harm and nothing. */
	wl_callback_destroy(wl_display_sync(f->display));
	fixture_settle(f->loop);
	assert_int_equal(rouse_wayland_flush(f->wayland), ROUSE_ELOST);
	assert_int_equal(f->lost, 1);
	assert_int_equal(f->events, events);
	assert_int_equal(rouse_remove(f->loop, timer), 0);

	rouse_ns start = rouse_now();
	wl_fixture_detach(f);
	assert_true(rouse_now() - start < SOON);
}

static void y6_compositor_killed_while_idle(void **state)
{
	struct wl_fixture f;

	(void)state;
	weston_start(&server);
	wl_fixture_open(&f, NULL, NULL);
	weston_kill(&server);
	after_loss(&f);
	assert_true(f.how.error == EPIPE || f.how.error == ECONNRESET);
	assert_null(f.how.interface);
	assert_int_equal(f.how.code, 0);
	assert_int_equal(f.how.object, 0);
	wl_fixture_close(&f);
}

static void kill_and_go_on(struct wl_fixture *f)
{
	weston_kill(&server);
	for (int i = 0; i < 10; i++)
		wl_callback_destroy(wl_display_sync(f->display));
	assert_true(wl_display_roundtrip(f->display) < 0);
}

static void y6_compositor_killed_in_a_listener(void **state)
{
	struct wl_fixture f;

	(void)state;
	weston_start(&server);
	wl_fixture_open(&f, NULL, NULL);
	f.on_event = kill_and_go_on;
	wl_fixture_ask(&f);
	fixture_until(f.loop, &f.events, 1);
	f.on_event = NULL;
	after_loss(&f);
	assert_true(f.how.error == EPIPE || f.how.error == ECONNRESET);
	wl_fixture_close(&f);
}

/* A real compositor's word: a global that is not there. */
static void y6_protocol_error_of_a_real_compositor(void **state)
{
	struct wl_fixture f;

	(void)state;
	weston_start(&server);
	wl_fixture_open(&f, NULL, NULL);
	struct wl_registry *registry = wl_display_get_registry(f.display);
	void *bound = wl_registry_bind(registry, 12345, &wl_compositor_interface, 1);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.how.error, EPROTO);
	assert_string_equal(f.how.interface->name, "wl_registry");
	assert_int_equal(f.how.code, WL_DISPLAY_ERROR_INVALID_OBJECT);
	assert_int_equal(f.how.object, wl_proxy_get_id((struct wl_proxy *)registry));
	after_loss(&f);
	wl_compositor_destroy(bound);
	wl_registry_destroy(registry);
	wl_fixture_close(&f);
	weston_stop(&server);
}

static void y6_protocol_error_tells_interface_code_and_object(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_bind_output(&f);
	/* Each attached queue is told. */
	wl_fixture_open_queue(&second, &f);
	uint32_t id = peer_output_id(&peer);
	peer_post_error(&peer, 77);
	peer_hang_up(&peer);
	fixture_until(f.loop, &f.lost, 1);
	fixture_until(f.loop, &second.lost, 1);
	after_loss(&f);
	assert_int_equal(second.lost, 1);
	assert_int_equal(f.how.error, EPROTO);
	assert_string_equal(f.how.interface->name, "wl_output");
	assert_int_equal(f.how.code, 77);
	assert_int_equal(f.how.object, id);
	assert_memory_equal(&f.how, &second.how, sizeof(f.how));
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

/* What came before the end is delivered, as far as libwayland does so. */
static void y6_last_events_are_delivered(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_bind_output(&f);
	peer_flood(&peer, 100);
	peer_hang_up(&peer);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.scales, 100);
	assert_int_equal(f.how.error, EPIPE);
	after_loss(&f);
	wl_fixture_close(&f);
}

/* With a request to send: flush finds out first, and leaves it to the read to say why. */
static void y6_lost_with_requests_to_send(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_bind_output(&f);
	peer_post_error(&peer, 5);
	peer_hang_up(&peer);
	wl_callback_destroy(wl_display_sync(f.display));
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.how.error, EPROTO);
	assert_int_equal(f.how.code, 5);
	/* A peer that is gone is not one that does not read. */
	assert_int_equal(f.pressures, 0);
	after_loss(&f);
	wl_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(y6_compositor_killed_while_idle),
	        cmocka_unit_test(y6_compositor_killed_in_a_listener),
	        cmocka_unit_test(y6_protocol_error_of_a_real_compositor),
	        cmocka_unit_test(y6_protocol_error_tells_interface_code_and_object),
	        cmocka_unit_test(y6_last_events_are_delivered),
	        cmocka_unit_test(y6_lost_with_requests_to_send),
	};

	alarm(280);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
