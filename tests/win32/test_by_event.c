/* Sockets without the driver: when that is so, and what the event and the poll make of each other.
 */
#include "ends.h"

#include <rouse/win32.h>

#include <limits.h>
#include <string.h>

/* The driver's words. */
enum { DENIED = 0x22, NO_SUCH_NAME = 0x34, NOT_SUPPORTED = 0xBB };

static int by_event(void **state)
{
	(void)state;
	rouse__fault_reset();
	rouse__fault_fail(ROUSE__AFD_OPEN, 0, UINT_MAX, DENIED);
	return 0;
}

static int is_selected(SOCKET s)
{
	u_long zero = 0, one = 1;
	int refused = ioctlsocket(s, (long)FIONBIO, &zero) != 0;

	assert_int_equal(ioctlsocket(s, (long)FIONBIO, &one), 0);
	return refused;
}

/* ---- The choice -------------------------------------------------------------------------------
 */

static void chosen_where_the_driver_is_not_to_be_had(void **state)
{
	static const struct {
		enum rouse__call call;
		int os_error, by_event;
	} rows[] = {
	        {ROUSE__CALLS, 0, 0},
	        {ROUSE__AFD_OPEN, DENIED, 1},
	        {ROUSE__AFD_OPEN, NO_SUCH_NAME, 1},
	        {ROUSE__AFD_POLL, NOT_SUPPORTED, 1},
	        {ROUSE__BASE_HANDLE, WSAEOPNOTSUPP, 1},
	        {ROUSE__BASE_HANDLE, WSAEINVAL, 1},
	};
	rouse_loop *loop = loop_on("win32", NULL);
	struct end ends[COUNT(rows)] = {{0}};

	(void)state;
	/* Side by side, in one loop. */
	for (size_t i = 0; i < COUNT(rows); i++) {
		rouse__fault_reset();
		if (rows[i].call != ROUSE__CALLS)
			rouse__fault_fail(rows[i].call, 0, 1, rows[i].os_error);
		open_pair(&ends[i]);
		ends[i].then = read_all;
		watch_end(loop, &ends[i], ROUSE_READABLE);
		assert_int_equal(is_selected(ends[i].s), rows[i].by_event);
		/* The next one does not open it again. */
		if (rows[i].call == ROUSE__AFD_OPEN || rows[i].call == ROUSE__CALLS)
			unwatch_end(&ends[i]);
		(void)drain(loop);
	}
	for (int round = 1; round <= 3; round++)
		for (size_t i = 3; i < COUNT(rows); i++) {
			say(ends[i].peer, "abc");
			UNTIL(loop, ends[i].bytes == 3 * round);
		}
	assert_int_equal(drain(loop), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		close_pair(&ends[i]);
	finish(loop);
}

/* ---- Edges and levels ---------------------------------------------------------------------------
 */

static void read_one(struct end *e)
{
	char c;

	e->bytes += recv(e->s, &c, 1, 0) == 1;
}

static void what_is_left_comes_again(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = read_one}, lazy = {0};

	(void)state;
	open_pair(&e);
	open_pair(&lazy);
	watch_end(loop, &e, ROUSE_READABLE);
	watch_end(loop, &lazy, ROUSE_READABLE);
	assert_int_equal(drain(loop), 0);
	say(e.peer, "abcdef");
	UNTIL(loop, e.bytes == 6);
	assert_int_equal(e.runs, 6);
	assert_int_equal(drain(loop), 0);
	/* Nobody reads it, and the event would say no more. */
	say(lazy.peer, "x");
	UNTIL(loop, lazy.runs == 5);
	assert_int_equal(lazy.events, ROUSE_READABLE);
	/* Paused it is not told, and told as it goes on. */
	assert_int_equal(rouse_fd_set_events(loop, lazy.self, 0), 0);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(lazy.runs, 5);
	assert_int_equal(rouse_fd_set_events(loop, lazy.self, ROUSE_READABLE), 0);
	UNTIL(loop, lazy.runs > 5);
	unwatch_end(&e);
	unwatch_end(&lazy);
	close_pair(&e);
	close_pair(&lazy);
	finish(loop);
}

static void fill(SOCKET s)
{
	char block[4096] = {0};
	WSAPOLLFD fd = {.fd = s, .events = POLLWRNORM};

	/* What is on its way makes room once more. */
	while (WSAPoll(&fd, 1, 500) == 1)
		assert_true(send(s, block, sizeof block, 0) > 0 ||
		            WSAGetLastError() == WSAEWOULDBLOCK);
}

static unsigned __stdcall take_all(void *data)
{
	struct end *e = data;
	char block[65536];

	Sleep(50);
	while (recv(e->peer, block, sizeof block, 0) > 0 || WSAGetLastError() == WSAEWOULDBLOCK)
		if (e->ended)
			return 0;
	return 0;
}

static void stop_taking(struct end *e)
{
	e->ended = 1;
}

static void room_is_told_once_there_is_some(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = stop_taking};
	HANDLE thread;

	(void)state;
	open_pair(&e);
	watch_end(loop, &e, ROUSE_READABLE);
	assert_int_equal(drain(loop), 0);
	fill(e.s);
	/* While its event is waited for. */
	assert_int_equal(rouse_fd_set_events(loop, e.self, ROUSE_READABLE | ROUSE_WRITABLE), 0);
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	thread = start_thread(take_all, &e);
	UNTIL(loop, e.runs);
	assert_int_equal(e.events, ROUSE_WRITABLE);
	assert_int_equal(join_thread(thread), 0);
	unwatch_end(&e);
	close_pair(&e);
	finish(loop);
}

static uint64_t turns_in(rouse_loop *loop, rouse_ns span)
{
	rouse_ns until = rouse_now() + span;
	uint64_t before = stats_of(loop).turns;

	while (rouse_now() < until)
		assert_int_equal(rouse_loop_turn(loop, until), 0);
	return stats_of(loop).turns - before;
}

static void an_idle_one_wakes_nobody(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end idle = {0};

	(void)state;
	open_pair(&idle);
	watch_end(loop, &idle, ROUSE_READABLE);
	assert_int_equal(drain(loop), 0);
	assert_true(turns_in(loop, 300 * MS) < 5);
	unwatch_end(&idle);
	close_pair(&idle);
	finish(loop);
}

static void served_by_a_loop_of_messages(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = read_one};
	rouse_win32 *win32;
	MSG message;

	(void)state;
	open_pair(&e);
	assert_int_equal(rouse_win32_attach(loop, NULL, &win32), 0);
	watch_end(loop, &e, ROUSE_READABLE);
	for (int i = 1; i <= 5; i++) {
		say(e.peer, "abc");
		while (e.bytes < 3 * i) {
			assert_true(GetMessageW(&message, NULL, 0, 0) > 0);
			DispatchMessageW(&message);
		}
	}
	unwatch_end(&e);
	close_pair(&e);
	finish(loop);
}

static void removed_it_has_no_event(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0}, kept = {0};

	(void)state;
	open_pair(&e);
	open_pair(&kept);
	watch_end(loop, &e, ROUSE_READABLE);
	watch_end(loop, &kept, 0);
	assert_true(is_selected(e.s));
	assert_true(is_selected(kept.s));
	unwatch_end(&e);
	assert_false(is_selected(e.s));
	finish(loop);
	assert_false(is_selected(kept.s));
	close_pair(&e);
	close_pair(&kept);
}

/* ---- Shortage
 * ------------------------------------------------------------------------------------- */

static void works(rouse_loop *loop, struct end *e)
{
	int bytes = e->bytes;

	watch_end(loop, e, ROUSE_READABLE);
	say(e->peer, "x");
	UNTIL(loop, e->bytes > bytes);
	unwatch_end(e);
}

static void l9_adding_without_memory(void **state)
{
	struct end e = {.then = read_one};
	int error = ROUSE_ENOMEM;

	(void)state;
	open_pair(&e);
	for (unsigned n = 1; error; n++) {
		struct counting c;
		rouse_loop *loop;

		counting_init(&c);
		loop = loop_on("win32", &c);
		counting_fail(&c, n);
		error = rouse_fd_add(loop, e.s, ROUSE_READABLE, note_end, &e, &e.self);
		c.fail_at = 0;
		assert_int_equal(is_selected(e.s), !error);
		if (error)
			assert_int_equal(error, ROUSE_ENOMEM);
		else
			assert_int_equal(rouse_remove(loop, e.self), 0);
		works(loop, &e);
		finish(loop);
		counting_check(&c);
	}
	close_pair(&e);
}

static void adding_while_the_system_refuses(void **state)
{
	static const struct {
		enum rouse__call call;
		unsigned skip;
		int os_error;
	} rows[] = {{ROUSE__EVENT_SELECT, 0, ERROR_NO_SYSTEM_RESOURCES},
	            {ROUSE__EVENT_SELECT, 1, WSAENOBUFS},
	            {ROUSE__WAIT, 0, ERROR_NOT_ENOUGH_MEMORY}};
	struct end e = {.then = read_one};

	(void)state;
	open_pair(&e);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct counting c;
		rouse_loop *loop;
		unsigned handles;

		counting_init(&c);
		loop = loop_on("win32", &c);
		works(loop, &e);
		handles = open_handles();
		for (int n = 0; n < 30; n++) {
			rouse__fault_fail(rows[i].call, rows[i].skip, 1, rows[i].os_error);
			assert_int_equal(
			        rouse_fd_add(loop, e.s, ROUSE_READABLE, note_end, &e, NULL),
			        ROUSE_ENOMEM);
			assert_false(is_selected(e.s));
		}
		assert_true(open_handles() <= handles + 10);
		works(loop, &e);
		finish(loop);
		counting_check(&c);
	}
	close_pair(&e);
}

static void one_that_cannot_be_asked_for_is_asked_for_again(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = read_one}, other = {.then = read_one};

	(void)state;
	open_pair(&e);
	open_pair(&other);
	watch_end(loop, &e, ROUSE_READABLE);
	watch_end(loop, &other, ROUSE_READABLE);
	rouse__fault_fail(ROUSE__EVENT_SELECT, 0, 1, WSAENOBUFS);
	say(other.peer, "x");
	/* It does not block, and says why; and others are served. */
	assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_ENOMEM);
	UNTIL(loop, other.bytes);
	assert_int_equal(stats_of(loop).fds_dropped, 0);
	say(e.peer, "x");
	UNTIL(loop, e.bytes);
	assert_int_equal(drain(loop), 0);
	unwatch_end(&e);
	unwatch_end(&other);
	close_pair(&e);
	close_pair(&other);
	finish(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(chosen_where_the_driver_is_not_to_be_had),
	        cmocka_unit_test_setup(what_is_left_comes_again, by_event),
	        cmocka_unit_test_setup(room_is_told_once_there_is_some, by_event),
	        cmocka_unit_test_setup(an_idle_one_wakes_nobody, by_event),
	        cmocka_unit_test_setup(served_by_a_loop_of_messages, by_event),
	        cmocka_unit_test_setup(removed_it_has_no_event, by_event),
	        cmocka_unit_test_setup(l9_adding_without_memory, by_event),
	        cmocka_unit_test_setup(adding_while_the_system_refuses, by_event),
	        cmocka_unit_test_setup(one_that_cannot_be_asked_for_is_asked_for_again, by_event),
	};

	return cmocka_run_group_tests(tests, start_sockets, NULL);
}
