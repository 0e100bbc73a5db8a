/* Detach in every callback, and what else callbacks remove. */
#include "wl_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void detach(struct wl_fixture *f)
{
	wl_fixture_detach(f);
}

static void nothing_more(struct wl_fixture *f)
{
	unsigned events = f->events, told = f->lost + f->pressures;

	wl_fixture_asked(f);
	fixture_settle(f->loop);
	assert_int_equal(f->events, events);
	assert_int_equal(f->lost + f->pressures, told);
	assert_null(f->wayland);
	/* The answer is still to be had. */
	assert_true(wl_display_dispatch(f->display) >= 0);
	assert_true(f->events > events);
}

static void l3_detach_in_a_listener(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	f.on_event = detach;
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	f.on_event = NULL;
	nothing_more(&f);
	wl_fixture_close(&f);
}

static void detach_twice(struct wl_fixture *f)
{
	rouse_wayland *wayland = f->wayland;

	detach(f);
	/* The name is good until this listener returns. */
	assert_int_equal(rouse_wayland_detach(wayland), ROUSE_ESTALE);
	assert_int_equal(rouse_wayland_flush(wayland), ROUSE_ESTALE);
}

static void l3_second_detach_is_stale(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_open_queue(&second, &f);
	/* Not the last of its display; then the last. */
	second.on_event = detach_twice;
	wl_fixture_asked(&second);
	fixture_until(f.loop, &second.events, 1);
	f.on_event = detach_twice;
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	f.on_event = NULL;
	nothing_more(&f);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

/* Attached anew in the same listener: the rest is the new one's. */
static void reattach(struct wl_fixture *f)
{
	f->on_event = NULL;
	detach(f);
	wl_fixture_reattach(f);
}

static void l3_attach_anew_in_a_listener(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	f.on_event = reattach;
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 2);
	wl_fixture_close(&f);
}

/* In `lost` the display may be disconnected, too. */
static void detach_and_disconnect(struct wl_fixture *f)
{
	detach(f);
	wl_fixture_disconnect(f);
}

static void l4_detach_and_disconnect_in_lost(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	f.on_lost = detach_and_disconnect;
	peer_hang_up(&peer);
	fixture_until(f.loop, &f.lost, 1);
	fixture_settle(f.loop);
	assert_int_equal(f.lost, 1);
	wl_fixture_close(&f);
}

static void fill(struct wl_fixture *f)
{
	int blocked = 0;

	while (blocked == 0) {
		wl_fixture_ask(f);
		blocked = rouse_wayland_flush(f->wayland);
	}
	assert_int_equal(blocked, 1);
}

static void l4_detach_and_disconnect_in_pressure(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	f.on_pressure = detach_and_disconnect;
	fill(&f);
	fixture_until(f.loop, &f.pressures, 1);
	fixture_settle(f.loop);
	assert_int_equal(f.pressures, 1);
	wl_fixture_close(&f);
}

/* ---- Pairs: one kind removes the other, which is due in the same turn -------------------- */

enum kind { POST, WAKER, SIGNAL, TIMER, HOOK, DESCRIPTOR, CHILD, QUEUE, DISPLAY, KINDS };

struct pair {
	struct wl_fixture f, other;
	struct peer peer, others_peer;
	rouse_loop *others_loop;
	enum kind kind;
	unsigned runs; /* of the other kind */
	bool detaches; /* the other kind does; else the listener removes it */
	rouse_source source;
	rouse_waker *waker;
	rouse_remote *remote;
	int ends[2];
	pid_t child;
};

static void ran(struct pair *pair)
{
	pair->runs++;
	if (pair->detaches && pair->f.wayland)
		detach(&pair->f);
}

static void ran_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	ran(data);
}

static void ran_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop, (void)self, (void)signo;
	ran(data);
}

static void ran_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	ran(data);
}

static void ran_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	char byte;

	(void)loop, (void)self, (void)events;
	assert_int_equal(read(fd, &byte, 1), 1);
	ran(data);
}

static void ran_child(rouse_loop *loop, rouse_source self, rouse_process process,
                      const rouse_exit *how, void *data)
{
	(void)loop, (void)self, (void)process, (void)how;
	ran(data);
}

static int ran_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	char byte;
	struct pair *pair = data;

	(void)loop, (void)self, (void)budget;
	assert_int_equal(read(pair->ends[0], &byte, 1), 1);
	ran(data);
	return 1;
}

static void ran_event(struct wl_fixture *other)
{
	ran(other->data);
}

static void make_due(struct pair *pair)
{
	rouse_loop *loop = pair->f.loop;
	siginfo_t info;
	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = pair->ends[0],
	                         .events = ROUSE_READABLE,
	                         .dispatch = ran_hook};

	switch (pair->kind) {
	case POST:
		assert_int_equal(rouse_post(pair->remote, ran_wake, pair, NULL), 0);
		break;
	case WAKER:
		assert_int_equal(rouse_waker_create(loop, ran_wake, pair, &pair->waker), 0);
		assert_true(rouse_wake(pair->waker) >= 0);
		break;
	case SIGNAL:
		assert_int_equal(rouse_signal_add(loop, SIGUSR1, ran_signal, pair, &pair->source),
		                 0);
		assert_int_equal(raise(SIGUSR1), 0);
		break;
	case TIMER:
		assert_int_equal(
		        rouse_timer_add(loop, rouse_now(), 0, 0, ran_timer, pair, &pair->source),
		        0);
		break;
	case HOOK:
		assert_int_equal(rouse_hook_add(loop, &hook, pair, &pair->source), 0);
		break;
	case DESCRIPTOR:
		assert_int_equal(rouse_fd_add(loop, pair->ends[0], ROUSE_READABLE, ran_fd, pair,
		                              &pair->source),
		                 0);
		break;
	case CHILD:
		pair->child = fork();
		if (pair->child == 0)
			_exit(0);
		assert_int_equal(rouse_child_add(loop, pair->child, ran_child, pair, &pair->source),
		                 0);
		/* Ended, and still to be waited for. */
		assert_int_equal(waitid(P_PID, (id_t)pair->child, &info, WEXITED | WNOWAIT), 0);
		break;
	case QUEUE:
	case DISPLAY:
		pair->other.data = pair;
		pair->other.on_event = ran_event;
		wl_fixture_asked(&pair->other);
		break;
	case KINDS:
		break;
	}
}

static void remove_it(struct wl_fixture *f)
{
	struct pair *pair = f->data;

	switch (pair->kind) {
	case POST:
		/* One that is posted here: what was posted before has run. */
		assert_int_equal(rouse_post(pair->remote, ran_wake, pair, NULL), 0);
		assert_int_equal(rouse_cancel_posts(f->loop, pair), 1);
		break;
	case WAKER:
		assert_true(rouse_wake(pair->waker) >= 0);
		assert_int_equal(rouse_waker_close(pair->waker), 0);
		break;
	case SIGNAL:
		assert_int_equal(raise(SIGUSR1), 0);
		assert_int_equal(rouse_remove(f->loop, pair->source), 0);
		break;
	case QUEUE:
	case DISPLAY:
		if (pair->other.wayland)
			detach(&pair->other);
		break;
	default:
		assert_int_equal(rouse_remove(f->loop, pair->source), 0);
	}
}

static void open_pair(struct pair *pair, enum kind kind, bool detaches)
{
	*pair = (struct pair){.kind = kind, .detaches = detaches};
	wl_fixture_open(&pair->f, &pair->peer, NULL);
	pair->f.data = pair;
	pair->remote = rouse_loop_remote(pair->f.loop);
	assert_int_equal(pipe(pair->ends), 0);
	assert_int_equal(write(pair->ends[1], "x", 1), 1);
	if (kind == QUEUE)
		wl_fixture_open_queue(&pair->other, &pair->f);
	if (kind == DISPLAY) {
		wl_fixture_open(&pair->other, &pair->others_peer, NULL);
		wl_fixture_detach(&pair->other);
		pair->others_loop = pair->other.loop;
		pair->other.loop = pair->f.loop;
		wl_fixture_reattach(&pair->other);
	}
	fixture_settle(pair->f.loop);
}

static void close_pair(struct pair *pair)
{
	rouse_remove(pair->f.loop, pair->source);
	rouse_waker_unref(pair->waker);
	rouse_remote_unref(pair->remote);
	if (pair->kind == CHILD)
		(void)waitpid(pair->child, NULL, 0);
	if (pair->other.wayland)
		wl_fixture_detach(&pair->other);
	if (pair->kind == DISPLAY)
		pair->other.loop = pair->others_loop;
	if (pair->other.loop)
		wl_fixture_close(&pair->other);
	wl_fixture_close(&pair->f);
	close(pair->ends[0]);
	close(pair->ends[1]);
}

static void l3_each_kind_detaches_a_queue_that_is_due(void **state)
{
	(void)state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct pair pair;

		open_pair(&pair, kind, true);
		wl_fixture_asked(&pair.f);
		make_due(&pair);
		fixture_until(pair.f.loop, &pair.runs, 1);
		/* These run before a display's hook: its event was due, and did not come. */
		if (kind <= TIMER)
			assert_int_equal(pair.f.events, 0);
		pair.detaches = false;
		fixture_settle(pair.f.loop);
		nothing_more(&pair.f);
		close_pair(&pair);
	}
}

static void l3_listener_removes_each_kind_that_is_due(void **state)
{
	(void)state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct pair pair;

		open_pair(&pair, kind, false);
		make_due(&pair);
		/* What runs before it anyway has run; it is made due again, and removed, later. */
		if (kind <= TIMER)
			fixture_until(pair.f.loop, &pair.runs, 1);
		if (kind == TIMER)
			assert_int_equal(
			        rouse_timer_set(pair.f.loop, pair.source, ROUSE_NEVER, 0, 0), 0);
		pair.f.on_event = remove_it;
		unsigned runs = pair.runs;
		wl_fixture_asked(&pair.f);
		fixture_until(pair.f.loop, &pair.f.events, 1);
		fixture_settle(pair.f.loop);
		/* Of two hooks, queues or displays either may be the first. */
		if (kind != HOOK && kind != QUEUE && kind != DISPLAY)
			assert_int_equal(pair.runs, runs);
		assert_true(pair.runs <= runs + 1);
		runs = pair.runs;
		assert_int_equal(write(pair.ends[1], "y", 1), 1);
		fixture_settle(pair.f.loop);
		assert_int_equal(pair.runs, runs);
		close_pair(&pair);
	}
}

static void l3_loop_destroyed_with_attachments(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_open_queue(&second, &f);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	/* The display works, and both are free again. */
	f.wayland = second.wayland = NULL;
	assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
	second.loop = f.loop;
	wl_fixture_reattach(&f);
	wl_fixture_reattach(&second);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l3_detach_in_a_listener),
	        cmocka_unit_test(l3_second_detach_is_stale),
	        cmocka_unit_test(l3_attach_anew_in_a_listener),
	        cmocka_unit_test(l4_detach_and_disconnect_in_lost),
	        cmocka_unit_test(l4_detach_and_disconnect_in_pressure),
	        cmocka_unit_test(l3_each_kind_detaches_a_queue_that_is_due),
	        cmocka_unit_test(l3_listener_removes_each_kind_that_is_due),
	        cmocka_unit_test(l3_loop_destroyed_with_attachments),
	};

	alarm(280);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
