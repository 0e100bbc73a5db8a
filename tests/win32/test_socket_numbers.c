/* Sockets that are closed while they are watched, and whose number is used anew. */
#include "ends.h"

/* A socket at a number that is free now.  The others that it took to get there are closed. */
static SOCKET socket_at(SOCKET number)
{
	SOCKET tried[512];
	SOCKET found = INVALID_SOCKET;
	size_t count = 0;

	while (found == INVALID_SOCKET && count < COUNT(tried)) {
		SOCKET s = new_socket();

		if (s == number)
			found = s;
		else
			tried[count++] = s;
	}
	while (count)
		closesocket(tried[--count]);
	return found;
}

/* One that is closed is at nobody's number once the next one is added. */
static void add_anew(rouse_loop *loop, struct end *old, struct end *fresh)
{
	SOCKET number = old->s;

	closesocket(number);
	fresh->s = socket_at(number);
	assert_true(fresh->s == number);
	pair_up(fresh, fresh->s);
	watch_end(loop, fresh, ROUSE_READABLE);
	assert_int_equal(rouse_fd_add(loop, number, ROUSE_READABLE, note_end, fresh, NULL),
	                 ROUSE_EEXIST);
}

static void newcomer_is_served(rouse_loop *loop, struct end *old, struct end *fresh)
{
	int runs = old->runs;

	say(fresh->peer, "x");
	UNTIL(loop, fresh->runs);
	read_all(fresh);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(old->runs, runs);
	assert_int_equal(rouse_fd_set_events(loop, old->self, 0), ROUSE_EOS);
	unwatch_end(old);
	fresh->runs = 0;
	say(fresh->peer, "x");
	UNTIL(loop, fresh->runs);
	unwatch_end(fresh);
	close_pair(fresh);
	closesocket(old->peer);
	finish(loop);
}

/* `turns`: so that the driver has been asked for readiness, or has not. */
static void closed_then_number_used_anew(int turns, unsigned events)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end old = {0}, fresh = {0};

	open_pair(&old);
	watch_end(loop, &old, events);
	while (turns--)
		assert_true(rouse_loop_turn(loop, 0) >= 0);
	add_anew(loop, &old, &fresh);
	newcomer_is_served(loop, &old, &fresh);
}

static void f3_closed_before_the_first_turn_its_number_is_used_anew(void **state)
{
	(void)state;
	closed_then_number_used_anew(0, ROUSE_READABLE);
}

static void f3_closed_while_asked_for_its_number_is_used_anew(void **state)
{
	(void)state;
	closed_then_number_used_anew(2, ROUSE_READABLE);
}

static void f3_closed_while_paused_its_number_is_used_anew(void **state)
{
	(void)state;
	closed_then_number_used_anew(2, 0);
}

static struct end *newcomer;

static void replace_self(struct end *e)
{
	if (!newcomer->peer)
		add_anew(e->loop, e, newcomer);
}

static void f1_closed_in_its_callback_its_number_is_used_anew(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end old = {.then = replace_self}, fresh = {0};

	(void)state;
	newcomer = &fresh;
	open_pair(&old);
	watch_end(loop, &old, ROUSE_READABLE);
	say(old.peer, "x");
	UNTIL(loop, fresh.peer);
	newcomer_is_served(loop, &old, &fresh);
}

static void f1_two_ready_one_replaces_the_other(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end two[2] = {{0}, {0}}, fresh = {0};
	int turns;

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_pair(&two[i]);
		say(two[i].peer, "x");
		watch_end(loop, &two[i], ROUSE_READABLE);
	}
	/* Both ready as it is closed, with an event of the old one over the port. */
	Sleep(20);
	add_anew(loop, &two[0], &fresh);
	for (turns = 0; turns < 5; turns++)
		assert_true(rouse_loop_turn(loop, 0) >= 0);
	assert_int_equal(two[0].runs, 0);
	assert_int_equal(fresh.runs, 0);
	assert_true(two[1].runs);
	unwatch_end(&two[1]);
	close_pair(&two[1]);
	newcomer_is_served(loop, &two[0], &fresh);
}

static void f2_closed_while_watched_it_is_told_once(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0}, paused = {0};

	(void)state;
	open_pair(&e);
	open_pair(&paused);
	watch_end(loop, &e, ROUSE_READABLE);
	watch_end(loop, &paused, 0);
	assert_int_equal(drain(loop), 0);
	closesocket(e.s);
	closesocket(paused.s);
	UNTIL(loop, e.runs);
	assert_int_equal(e.events, ROUSE_FDERROR);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(e.runs, 1);
	assert_int_equal(paused.runs, 0);
	assert_int_equal(stats_of(loop).fds_dropped, 1);
	unwatch_end(&e);
	unwatch_end(&paused);
	closesocket(e.peer);
	closesocket(paused.peer);
	finish(loop);
}

/* A ring that comes out of the port as another socket is added is heard all the same. */
static void wake(void *data)
{
	assert_true(rouse_wake(data) >= 0);
}

static void count_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

static void a_ring_is_not_lost_to_an_add(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end old = {0}, fresh = {0};
	rouse_waker *waker;
	int woken = 0;

	(void)state;
	assert_int_equal(rouse_waker_create(loop, count_wake, &woken, &waker), 0);
	open_pair(&old);
	watch_end(loop, &old, ROUSE_READABLE);
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	on_another_thread(wake, waker);
	add_anew(loop, &old, &fresh);
	UNTIL(loop, woken);
	assert_int_equal(woken, 1);
	rouse_waker_unref(waker);
	newcomer_is_served(loop, &old, &fresh);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f3_closed_before_the_first_turn_its_number_is_used_anew),
	        cmocka_unit_test(f3_closed_while_asked_for_its_number_is_used_anew),
	        cmocka_unit_test(f3_closed_while_paused_its_number_is_used_anew),
	        cmocka_unit_test(f1_closed_in_its_callback_its_number_is_used_anew),
	        cmocka_unit_test(f1_two_ready_one_replaces_the_other),
	        cmocka_unit_test(f2_closed_while_watched_it_is_told_once),
	        cmocka_unit_test(a_ring_is_not_lost_to_an_add),
	};

	(void)argv;
	return run_on_sockets(argc, tests, COUNT(tests));
}
