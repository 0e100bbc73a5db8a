/* What a guest may rely on in every host: what the host sees, nested loops, attach and detach. */
#include "guest.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* ---- G: guest
 * ------------------------------------------------------------------------------------ */

static int readable(struct guest *guest)
{
	struct pollfd fd = {.events = POLLIN};

	assert_int_equal(rouse_loop_fd(guest->loop, &fd.fd), 0);
	return poll(&fd, 1, 0);
}

static void g1_readable_while_there_is_work_and_no_longer(void **state)
{
	struct guest *guest = *state;
	unsigned posts = 0, timers = 0, reads = 0;
	rouse_source source;
	int fds[2];

	if (host_kind.bracket)
		skip(); /* its descriptor does not carry timers, and rouse_loop_fd() makes it */
	settle();
	assert_int_equal(readable(guest), 0);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	assert_int_equal(readable(guest), 1);
	UNTIL(posts);
	assert_int_equal(readable(guest), 0);
	assert_int_equal(rouse_timer_add(guest->loop, 0, 0, 0, fixture_count_timer, &timers, NULL),
	                 0);
	assert_int_equal(readable(guest), 1);
	UNTIL(timers);
	assert_int_equal(readable(guest), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(
	        rouse_fd_add(guest->loop, fds[0], ROUSE_READABLE, count_fd, &reads, &source), 0);
	assert_int_equal(readable(guest), 0);
	write_byte(&fds[1]);
	assert_int_equal(readable(guest), 1);
	UNTIL(reads);
	assert_int_equal(readable(guest), 0);
	assert_int_equal(rouse_remove(guest->loop, source), 0);
	close(fds[0]);
	close(fds[1]);
}

/* Things of every kind, added by the host's own code while it is not in a turn. */
static void add_everything(void *data)
{
	void **all = data;
	struct guest *guest = all[0];
	unsigned *counts = all[1];
	int *fds = all[2];

	host_tick(NULL, NULL);
	assert_int_equal(rouse_timer_add(guest->loop, rouse_now() + MS, 0, 0, fixture_count_timer,
	                                 &counts[0], NULL),
	                 0);
	assert_int_equal(
	        rouse_fd_add(guest->loop, fds[0], ROUSE_READABLE, count_fd, &counts[1], NULL), 0);
	assert_true(rouse_post(guest->remote, count_post, &counts[2], NULL) >= 0);
	write_byte(&fds[1]);
}

static void g1_what_the_hosts_own_code_adds_is_served(void **state)
{
	struct guest *guest = *state;
	unsigned counts[3] = {0};
	int fds[2];
	void *all[] = {guest, counts, fds};

	assert_int_equal(pipe(fds), 0);
	settle();
	host_tick(add_everything, all);
	UNTIL(counts[0] && counts[1] && counts[2]);
	assert_int_equal(counts[0] + counts[1] + counts[2], 3);
	assert_int_equal(host_detach(), 0);
	assert_int_equal(rouse_loop_destroy(guest->loop), 0);
	guest->loop = NULL;
	close(fds[0]);
	close(fds[1]);
}

struct changes {
	unsigned timers, reads;
	rouse_source timer, fd;
	int pipe[2];
	rouse_waker *waker;
};

static void change_much(rouse_loop *loop, void *data)
{
	struct changes *c = data;
	rouse_ns now = rouse_now(), far = 3600000 * MS;
	rouse_source passing;

	assert_int_equal(
	        rouse_timer_add(loop, now + far, 0, 0, fixture_count_timer, &c->timers, NULL), 0);
	assert_int_equal(rouse_timer_set(loop, c->timer, now + far / 2, 0, 0), 0);
	assert_int_equal(rouse_timer_add(loop, now + far / 3, 0, 0, fixture_count_timer, &c->timers,
	                                 &passing),
	                 0);
	assert_int_equal(rouse_remove(loop, passing), 0);
	assert_int_equal(rouse_fd_set_events(loop, c->fd, ROUSE_READABLE), 0);
	assert_int_equal(rouse_waker_create(loop, fixture_count_wake, &c->timers, &c->waker), 0);
	assert_int_equal(rouse_waker_close(c->waker), 0);
	rouse_waker_unref(c->waker);
}

static void g2_changes_inside_a_turn_do_not_wake_the_host(void **state)
{
	struct guest *guest = *state;
	rouse_stats before = {.size = sizeof before}, after = before;
	struct changes c = {0};
	unsigned posts = 0;

	assert_int_equal(pipe(c.pipe), 0);
	assert_int_equal(rouse_timer_add(guest->loop, ROUSE_NEVER, 0, 0, fixture_count_timer,
	                                 &c.timers, &c.timer),
	                 0);
	assert_int_equal(rouse_fd_add(guest->loop, c.pipe[0], 0, count_fd, &c.reads, &c.fd), 0);
	settle();
	assert_int_equal(rouse_loop_stats(guest->loop, &before), 0);
	assert_true(rouse_post(guest->remote, change_much, &c, NULL) >= 0);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	UNTIL(posts);
	assert_int_equal(rouse_loop_stats(guest->loop, &after), 0);
	/* A look at the descriptor is a turn: it was worth one. */
	assert_int_equal(after.turns, before.turns + 1);
	settle();
	assert_int_equal(rouse_loop_stats(guest->loop, &after), 0);
	assert_int_equal(after.turns, before.turns + 1);
	assert_int_equal(c.timers, 0);
	assert_int_equal(rouse_remove(guest->loop, c.fd), 0);
	close(c.pipe[0]);
	close(c.pipe[1]);
}

struct dialog {
	struct guest *guest;
	unsigned posts, timers, reads, ticks, opened, closed;
	int pipe[2];
};

static void *post_twenty(void *data)
{
	struct dialog *d = data;

	for (int i = 0; i < 20; i++)
		if (rouse_post(d->guest->remote, count_post, &d->posts, NULL) < 0)
			return d;
	return NULL;
}

/* The host's own loop, in a callback of ours. */
static void open_dialog(rouse_loop *loop, void *data)
{
	struct dialog *d = data;
	pthread_t thread;
	void *failed;

	d->opened++;
	assert_int_equal(rouse_timer_add(loop, rouse_now() + MS, 0, 0, fixture_count_timer,
	                                 &d->timers, NULL),
	                 0);
	assert_int_equal(rouse_fd_add(loop, d->pipe[0], ROUSE_READABLE, count_fd, &d->reads, NULL),
	                 0);
	host_tick(count_tick, &d->ticks);
	write_byte(&d->pipe[1]);
	assert_int_equal(pthread_create(&thread, NULL, post_twenty, d), 0);
	UNTIL(d->posts == 20 && d->timers == 1 && d->reads == 1 && d->ticks);
	pthread_join(thread, &failed);
	assert_null(failed);
	host_tick(NULL, NULL);
	d->closed++;
}

static void open_dialog_in_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self, (void)deadline;
	open_dialog(loop, data);
}

static void g3_l6_a_nested_loop_of_the_hosts_serves_everything(void **state)
{
	struct guest *guest = *state;

	if (!host_kind.nests)
		skip();
	for (int in_timer = 0; in_timer < 2; in_timer++) {
		struct dialog d = {.guest = guest};
		unsigned followers = 0;

		assert_int_equal(pipe(d.pipe), 0);
		if (in_timer)
			assert_int_equal(rouse_timer_add(guest->loop, 0, 0, 0, open_dialog_in_timer,
			                                 &d, NULL),
			                 0);
		else
			assert_true(rouse_post(guest->remote, open_dialog, &d, NULL) >= 0);
		assert_true(rouse_post(guest->remote, count_post, &followers, NULL) >= 0);
		UNTIL(d.closed);
		assert_int_equal(followers, 1);
		settle();
		assert_int_equal(d.opened, 1);
		assert_int_equal(d.posts, 20);
		/* The descriptor is closed while it is watched, and reported as that. */
		close(d.pipe[1]);
		close(d.pipe[0]);
	}
}

static void g4_the_loop_runs_nothing_of_the_hosts(void **state)
{
	struct guest *guest = *state;
	unsigned ticks = 0, posts = 0, others = 0;
	rouse_loop *other;
	rouse_remote *remote;

	settle();
	host_tick(count_tick, &ticks);
	host_busy(true);
	/* A loop beside it, that nobody has attached. */
	assert_int_equal(rouse_loop_create(NULL, &other), 0);
	remote = rouse_loop_remote(other);
	assert_true(rouse_post(remote, count_post, &others, NULL) >= 0);
	usleep(5000);
	for (unsigned i = 1; i <= 10; i++) {
		assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
		assert_true(rouse_loop_turn(guest->loop, rouse_now() + MS) >= 0);
		assert_int_equal(rouse_loop_prepare(guest->loop, 0, NULL), 0);
		assert_int_equal(posts, i);
	}
	assert_int_equal(ticks, 0);
	assert_int_equal(host_busy_runs, 0);
	assert_int_equal(host_detach(), 0);
	assert_int_equal(host_attach(guest->loop), 0);
	assert_int_equal(ticks, 0);
	UNTIL(ticks && host_busy_runs);
	assert_int_equal(others, 0);
	host_tick(NULL, NULL);
	host_busy(false);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(other), 0);
}

/* ---- Attach and detach --------------------------------------------------------------------------
 */

static void attached_twice_is_refused(void **state)
{
	struct guest *guest = *state;
	unsigned posts = 0;

	if (!host_kind.adapter)
		skip();
	assert_int_equal(host_attach(guest->loop), ROUSE_EEXIST);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	UNTIL(posts);
	assert_int_equal(host_detach(), 0);
	assert_int_equal(host_attach(guest->loop), 0);
	assert_int_equal(host_attach(guest->loop), ROUSE_EEXIST);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	UNTIL(posts == 2);
	settle();
	assert_int_equal(posts, 2);
	assert_int_equal(rouse_loop_run(guest->loop), ROUSE_EBUSY);
}

struct detacher {
	struct guest *guest;
	unsigned detached;
};

static void detach_in_post(rouse_loop *loop, void *data)
{
	struct detacher *d = data;

	(void)loop;
	assert_int_equal(host_detach(), 0);
	d->detached++;
}

static void detach_in_a_callback_of_the_loops(void **state)
{
	struct guest *guest = *state;
	unsigned posts = 0, same_turn = 0;

	for (unsigned i = 1; i <= 20; i++) {
		struct detacher d = {guest, 0};

		assert_true(rouse_post(guest->remote, detach_in_post, &d, NULL) >= 0);
		assert_true(rouse_post(guest->remote, count_post, &same_turn, NULL) >= 0);
		UNTIL(d.detached);
		/* Gathered with it. */
		assert_int_equal(same_turn, i);
		/* Detached: what comes now stays where it is. */
		assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
		settle();
		assert_int_equal(posts, i - 1);
		assert_int_equal(host_attach(guest->loop), 0);
		UNTIL(posts == i);
	}
}

static void detach_in_tick(void *data)
{
	struct detacher *d = data;

	host_tick(NULL, NULL);
	assert_int_equal(host_detach(), 0);
	d->detached++;
}

static void detach_in_a_callback_of_the_hosts(void **state)
{
	struct guest *guest = *state;
	struct detacher d = {guest, 0};
	unsigned posts = 0;

	host_tick(detach_in_tick, &d);
	UNTIL(d.detached);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	settle();
	assert_int_equal(posts, 0);
	assert_int_equal(rouse_loop_turn(guest->loop, 0), 1);
	assert_int_equal(posts, 1);
	assert_int_equal(host_attach(guest->loop), 0);
}

static void a_loop_may_be_destroyed_while_attached(void **state)
{
	struct guest *guest = *state;
	unsigned ticks = 0;

	if (!host_kind.adapter)
		skip();
	for (int i = 0; i < 20; i++) {
		assert_true(rouse_post(guest->remote, count_post, &ticks, NULL) >= 0);
		if (i % 2)
			host_poll();
		rouse_remote_unref(guest->remote);
		assert_int_equal(rouse_loop_destroy(guest->loop), 0);
		/* Its numbers go to others, of whom the host is to know nothing. */
		settle();
		assert_int_equal(rouse_loop_create(NULL, &guest->loop), 0);
		guest->remote = rouse_loop_remote(guest->loop);
		assert_int_equal(host_attach(guest->loop), 0);
	}
	ticks = 0;
	host_tick(count_tick, &ticks);
	UNTIL(ticks);
	host_tick(NULL, NULL);
}

/* ---- What is told
 * ----------------------------------------------------------------------------------- */

static void *stop_it(void *data)
{
	return rouse_remote_stop(((struct guest *)data)->remote) < 0 ? data : NULL;
}

static void w21_a_stop_is_told_once(void **state)
{
	struct guest *guest = *state;
	pthread_t thread;
	unsigned posts = 0;

	if (!host_kind.told)
		skip();
	for (unsigned i = 1; i <= 20; i++) {
		void *failed;

		assert_int_equal(pthread_create(&thread, NULL, stop_it, guest), 0);
		UNTIL(host_dones == i);
		assert_int_equal(host_result, 0);
		pthread_join(thread, &failed);
		assert_null(failed);
		settle();
		assert_int_equal(host_dones, i);
	}
	/* By the host's own code. */
	assert_int_equal(rouse_loop_stop(guest->loop), 0);
	UNTIL(host_dones == 21);
	/* It is still attached. */
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	UNTIL(posts);
}

static void *attach_elsewhere(void *data)
{
	struct guest *guest = data;

	assert_int_equal(host_attach(guest->loop), ROUSE_EWRONGTHREAD);
	assert_int_equal(host_detach(), ROUSE_EWRONGTHREAD);
	return NULL;
}

static void l7_another_thread_attaches_and_detaches_nothing(void **state)
{
	struct guest *guest = *state;
	unsigned posts = 0;
	pthread_t thread;

	if (!host_kind.adapter)
		skip();
	assert_int_equal(pthread_create(&thread, NULL, attach_elsewhere, guest), 0);
	pthread_join(thread, NULL);
	assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
	UNTIL(posts);
}

static void a_poller_without_a_descriptor_is_refused(void **state)
{
	const char *pollers[] = {"poll", "null"};

	(void)state;
	if (!host_kind.adapter)
		skip();
	for (int i = 0; i < 2; i++) {
		const rouse_loop_options options = {.size = sizeof options, .poller = pollers[i]};
		unsigned posts = 0;
		rouse_loop *loop;

		assert_int_equal(rouse_loop_create(&options, &loop), 0);
		rouse_remote *remote = rouse_loop_remote(loop);
		assert_int_equal(host_attach(loop), ROUSE_ENOTSUP);
		/* It is nobody's guest. */
		assert_true(rouse_post(remote, count_post, &posts, NULL) >= 0);
		assert_true(rouse_remote_stop(remote) >= 0);
		assert_int_equal(rouse_loop_run(loop), 0);
		assert_int_equal(posts, 1);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        guest_test(g1_readable_while_there_is_work_and_no_longer),
	        guest_test(g1_what_the_hosts_own_code_adds_is_served),
	        guest_test(g2_changes_inside_a_turn_do_not_wake_the_host),
	        guest_test(g3_l6_a_nested_loop_of_the_hosts_serves_everything),
	        guest_test(g4_the_loop_runs_nothing_of_the_hosts),
	        guest_test(attached_twice_is_refused),
	        guest_test(detach_in_a_callback_of_the_loops),
	        guest_test(detach_in_a_callback_of_the_hosts),
	        guest_test(a_loop_may_be_destroyed_while_attached),
	        guest_test(w21_a_stop_is_told_once),
	        guest_test(l7_another_thread_attaches_and_detaches_nothing),
	        guest_test(a_poller_without_a_descriptor_is_refused),
	};

	host_init(&argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
