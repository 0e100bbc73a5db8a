/* Sockets: what they report, and hundreds of them beside hundreds of handles. */
#include "ends.h"

#include <stdlib.h>

/* ---- What they report ---------------------------------------------------------------------- */

static void f5_a_half_close_is_read_once_to_its_end(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = read_all};

	(void)state;
	open_pair(&e);
	watch_end(loop, &e, ROUSE_READABLE);
	say(e.peer, "abc");
	UNTIL(loop, e.bytes == 3);
	assert_int_equal(shutdown(e.peer, SD_SEND), 0);
	UNTIL(loop, e.ended);
	assert_int_equal(e.events, ROUSE_READABLE);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(e.ended, 1);
	/* The other direction still works. */
	e.then = NULL;
	e.events = 0;
	assert_int_equal(rouse_fd_set_events(loop, e.self, ROUSE_WRITABLE), 0);
	UNTIL(loop, e.events & ROUSE_WRITABLE);
	unwatch_end(&e);
	close_pair(&e);
	finish(loop);
}

static void f7_both_directions_at_once(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0};

	(void)state;
	open_pair(&e);
	say(e.peer, "x");
	watch_end(loop, &e, ROUSE_READABLE | ROUSE_WRITABLE);
	UNTIL(loop, e.events == (ROUSE_READABLE | ROUSE_WRITABLE));
	unwatch_end(&e);
	close_pair(&e);
	finish(loop);
}

static void f6_an_abort_comes_with_any_interest(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0}, other = {.then = read_all};
	struct linger at_once = {1, 0};

	(void)state;
	open_pair(&e);
	open_pair(&other);
	watch_end(loop, &e, ROUSE_HANGUP);
	watch_end(loop, &other, ROUSE_READABLE);
	assert_int_equal(
	        setsockopt(e.peer, SOL_SOCKET, SO_LINGER, (const char *)&at_once, sizeof at_once),
	        0);
	closesocket(e.peer);
	UNTIL(loop, e.events & (ROUSE_HANGUP | ROUSE_FDERROR));
	/* One that is not attended to comes again, and holds nobody up. */
	say(other.peer, "abc");
	UNTIL(loop, other.bytes == 3 && e.runs > 3);
	assert_true(stats_of(loop).hangups_ignored > 0);
	unwatch_end(&e);
	unwatch_end(&other);
	closesocket(e.s);
	close_pair(&other);
	finish(loop);
}

static void a_connection_is_accepted_or_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct sockaddr_in at;
	struct end from = {.s = new_listener(&at)}, to = {.s = new_socket()},
	           no = {.s = new_socket()};

	(void)state;
	watch_end(loop, &from, ROUSE_READABLE);
	watch_end(loop, &to, ROUSE_WRITABLE);
	assert_int_equal(drain(loop), 0);
	(void)connect(to.s, (struct sockaddr *)&at, sizeof at);
	UNTIL(loop, from.runs && to.runs);
	assert_int_equal(from.events, ROUSE_READABLE);
	assert_int_equal(to.events, ROUSE_WRITABLE);
	unwatch_end(&to);
	unwatch_end(&from);
	closesocket(to.s);
	closesocket(from.s);
	/* Nobody is there any more. */
	watch_end(loop, &no, ROUSE_WRITABLE);
	(void)connect(no.s, (struct sockaddr *)&at, sizeof at);
	UNTIL(loop, no.events & (ROUSE_FDERROR | ROUSE_WRITABLE));
	assert_true(no.events & ROUSE_FDERROR);
	unwatch_end(&no);
	closesocket(no.s);
	finish(loop);
}

/* ---- Many -------------------------------------------------------------------------------------
 */

enum { MANY = 200, ROUNDS = 20 };

struct many {
	struct end ends[MANY];
	HANDLE events[MANY];
	int handle_runs[MANY];
	atomic_int sent[MANY];
	HANDLE answered[MANY];
};

static struct many *many;

static void handle_runs(rouse_loop *loop, rouse_source self, void *handle, unsigned events,
                        void *data)
{
	int i = (int)((int *)data - many->handle_runs);

	(void)loop;
	(void)self;
	assert_int_equal(events, ROUSE_READABLE);
	assert_ptr_equal(handle, many->events[i]);
	many->handle_runs[i]++;
	assert_int_equal(many->handle_runs[i], atomic_load(&many->sent[i]));
	SetEvent(many->answered[i]);
}

static unsigned __stdcall signal_handles(void *data)
{
	(void)data;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < MANY; i++) {
			WaitForSingleObject(many->answered[i], INFINITE);
			atomic_fetch_add(&many->sent[i], 1);
			SetEvent(many->events[i]);
		}
	return 0;
}

static unsigned __stdcall talk(void *data)
{
	(void)data;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < MANY; i++)
			if (send(many->ends[i].peer, "abc", 3, 0) != 3)
				return 1;
	return 0;
}

static int all_came(void)
{
	for (int i = 0; i < MANY; i++)
		if (many->ends[i].bytes < 3 * ROUNDS || many->handle_runs[i] < ROUNDS)
			return 0;
	return 1;
}

static void n2_two_hundred_handles_and_two_hundred_sockets(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE threads[2];

	(void)state;
	many = calloc(1, sizeof *many);
	assert_non_null(many);
	for (int i = 0; i < MANY; i++) {
		open_pair(&many->ends[i]);
		many->ends[i].then = read_all;
		watch_end(loop, &many->ends[i], ROUSE_READABLE);
		many->events[i] = CreateEventW(NULL, FALSE, FALSE, NULL);
		many->answered[i] = CreateEventW(NULL, FALSE, TRUE, NULL);
		assert_int_equal(rouse_handle_add(loop, many->events[i], handle_runs,
		                                  &many->handle_runs[i], NULL),
		                 0);
	}
	threads[0] = start_thread(signal_handles, NULL);
	threads[1] = start_thread(talk, NULL);
	UNTIL(loop, all_came());
	for (int t = 0; t < 2; t++)
		assert_int_equal(join_thread(threads[t]), 0);
	assert_int_equal(drain(loop), 0);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(many->ends[i].bytes, 3 * ROUNDS);
		assert_int_equal(many->handle_runs[i], ROUNDS);
	}
	finish(loop);
	for (int i = 0; i < MANY; i++) {
		close_pair(&many->ends[i]);
		CloseHandle(many->events[i]);
		CloseHandle(many->answered[i]);
	}
	free(many);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f5_a_half_close_is_read_once_to_its_end),
	        cmocka_unit_test(f7_both_directions_at_once),
	        cmocka_unit_test(f6_an_abort_comes_with_any_interest),
	        cmocka_unit_test(a_connection_is_accepted_or_refused),
	        cmocka_unit_test(n2_two_hundred_handles_and_two_hundred_sockets),
	};

	(void)argv;
	return run_on_sockets(argc, tests, COUNT(tests));
}
