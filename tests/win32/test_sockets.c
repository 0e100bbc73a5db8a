/* Sockets: what they report, whose number is whose, and hundreds of them beside hundreds of
 * handles. */
#include "win32.h"

#include <ws2tcpip.h>
#include <stdlib.h>
#include <string.h>

struct end {
	rouse_loop *loop;
	SOCKET s, peer;
	rouse_source self;
	unsigned events;
	int runs, bytes, ended;
	void (*then)(struct end *e);
};

static void note(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct end *e = data;

	assert_ptr_equal(loop, e->loop);
	assert_true(self.id == e->self.id);
	assert_true(fd == e->s);
	e->events |= events;
	e->runs++;
	if (e->then)
		e->then(e);
}

static void watch(rouse_loop *loop, struct end *e, unsigned events)
{
	e->loop = loop;
	assert_int_equal(rouse_fd_add(loop, e->s, events, note, e, &e->self), 0);
}

static void unwatch(struct end *e)
{
	assert_int_equal(rouse_remove(e->loop, e->self), 0);
}

static void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- Sockets ---------------------------------------------------------------------------- */

static SOCKET new_socket(void)
{
	SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	u_long non_blocking = 1;

	assert_true(s != INVALID_SOCKET);
	assert_int_equal(ioctlsocket(s, (long)FIONBIO, &non_blocking), 0);
	return s;
}

static SOCKET listener(struct sockaddr_in *at)
{
	int size = sizeof *at;
	SOCKET s = new_socket();

	*at = (struct sockaddr_in){.sin_family = AF_INET,
	                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(s, (struct sockaddr *)at, sizeof *at), 0);
	assert_int_equal(listen(s, 16), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)at, &size), 0);
	return s;
}

static SOCKET accepted(SOCKET from)
{
	fd_set set;
	u_long non_blocking = 1;
	SOCKET s;

	FD_ZERO(&set);
	FD_SET(from, &set);
	assert_int_equal(select(0, &set, NULL, NULL, NULL), 1);
	s = accept(from, NULL, NULL);
	assert_true(s != INVALID_SOCKET);
	assert_int_equal(ioctlsocket(s, (long)FIONBIO, &non_blocking), 0);
	return s;
}

static void pair_up(struct end *e, SOCKET use)
{
	struct sockaddr_in at;
	SOCKET from = listener(&at);
	int at_once = 1;

	e->s = use == INVALID_SOCKET ? new_socket() : use;
	(void)connect(e->s, (struct sockaddr *)&at, sizeof at);
	e->peer = accepted(from);
	assert_int_equal(setsockopt(e->peer, IPPROTO_TCP, TCP_NODELAY, (const char *)&at_once,
	                            sizeof at_once),
	                 0);
	closesocket(from);
}

static void pair(struct end *e)
{
	pair_up(e, INVALID_SOCKET);
}

static void say(SOCKET s, const char *what)
{
	assert_int_equal(send(s, what, (int)strlen(what), 0), (int)strlen(what));
}

static void read_all(struct end *e)
{
	char buffer[256];
	int n;

	while ((n = recv(e->s, buffer, sizeof buffer, 0)) > 0)
		e->bytes += n;
	if (n == 0) {
		e->ended++;
		assert_int_equal(rouse_fd_set_events(e->loop, e->self, 0), 0);
	}
}

static void close_pair(struct end *e)
{
	closesocket(e->s);
	closesocket(e->peer);
}

/* ---- What they report ---------------------------------------------------------------------- */

static void f5_a_half_close_is_read_once_to_its_end(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {.then = read_all};

	(void)state;
	pair(&e);
	watch(loop, &e, ROUSE_READABLE);
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
	unwatch(&e);
	close_pair(&e);
	finish(loop);
}

static void f7_both_directions_at_once(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0};

	(void)state;
	pair(&e);
	say(e.peer, "x");
	watch(loop, &e, ROUSE_READABLE | ROUSE_WRITABLE);
	UNTIL(loop, e.events == (ROUSE_READABLE | ROUSE_WRITABLE));
	unwatch(&e);
	close_pair(&e);
	finish(loop);
}

static void f6_an_abort_comes_with_any_interest(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0}, other = {.then = read_all};
	struct linger at_once = {1, 0};

	(void)state;
	pair(&e);
	pair(&other);
	watch(loop, &e, ROUSE_HANGUP);
	watch(loop, &other, ROUSE_READABLE);
	assert_int_equal(
	        setsockopt(e.peer, SOL_SOCKET, SO_LINGER, (const char *)&at_once, sizeof at_once),
	        0);
	closesocket(e.peer);
	UNTIL(loop, e.events & (ROUSE_HANGUP | ROUSE_FDERROR));
	/* One that is not attended to comes again, and holds nobody up. */
	say(other.peer, "abc");
	UNTIL(loop, other.bytes == 3 && e.runs > 3);
	assert_true(stats_of(loop).hangups_ignored > 0);
	unwatch(&e);
	unwatch(&other);
	closesocket(e.s);
	close_pair(&other);
	finish(loop);
}

static void a_connection_is_accepted_or_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct sockaddr_in at;
	struct end from = {.s = listener(&at)}, to = {.s = new_socket()}, no = {.s = new_socket()};

	(void)state;
	watch(loop, &from, ROUSE_READABLE);
	watch(loop, &to, ROUSE_WRITABLE);
	assert_int_equal(drain(loop), 0);
	(void)connect(to.s, (struct sockaddr *)&at, sizeof at);
	UNTIL(loop, from.runs && to.runs);
	assert_int_equal(from.events, ROUSE_READABLE);
	assert_int_equal(to.events, ROUSE_WRITABLE);
	unwatch(&to);
	unwatch(&from);
	closesocket(to.s);
	closesocket(from.s);
	/* Nobody is there any more. */
	watch(loop, &no, ROUSE_WRITABLE);
	(void)connect(no.s, (struct sockaddr *)&at, sizeof at);
	UNTIL(loop, no.events & (ROUSE_FDERROR | ROUSE_WRITABLE));
	assert_true(no.events & ROUSE_FDERROR);
	unwatch(&no);
	closesocket(no.s);
	finish(loop);
}

/* ---- Numbers ----------------------------------------------------------------------------------
 */

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
	watch(loop, fresh, ROUSE_READABLE);
	assert_int_equal(rouse_fd_add(loop, number, ROUSE_READABLE, note, fresh, NULL),
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
	unwatch(old);
	fresh->runs = 0;
	say(fresh->peer, "x");
	UNTIL(loop, fresh->runs);
	unwatch(fresh);
	close_pair(fresh);
	closesocket(old->peer);
	finish(loop);
}

/* `turns`: so that the driver has been asked for readiness, or has not. */
static void closed_then_number_used_anew(int turns, unsigned events)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end old = {0}, fresh = {0};

	pair(&old);
	watch(loop, &old, events);
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
	pair(&old);
	watch(loop, &old, ROUSE_READABLE);
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
		pair(&two[i]);
		say(two[i].peer, "x");
		watch(loop, &two[i], ROUSE_READABLE);
	}
	/* Both ready as it is closed, with an event of the old one over the port. */
	Sleep(20);
	add_anew(loop, &two[0], &fresh);
	for (turns = 0; turns < 5; turns++)
		assert_true(rouse_loop_turn(loop, 0) >= 0);
	assert_int_equal(two[0].runs, 0);
	assert_int_equal(fresh.runs, 0);
	assert_true(two[1].runs);
	unwatch(&two[1]);
	close_pair(&two[1]);
	newcomer_is_served(loop, &two[0], &fresh);
}

static void f2_closed_while_watched_it_is_told_once(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct end e = {0}, paused = {0};

	(void)state;
	pair(&e);
	pair(&paused);
	watch(loop, &e, ROUSE_READABLE);
	watch(loop, &paused, 0);
	assert_int_equal(drain(loop), 0);
	closesocket(e.s);
	closesocket(paused.s);
	UNTIL(loop, e.runs);
	assert_int_equal(e.events, ROUSE_FDERROR);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(e.runs, 1);
	assert_int_equal(paused.runs, 0);
	assert_int_equal(stats_of(loop).fds_dropped, 1);
	unwatch(&e);
	unwatch(&paused);
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
	pair(&old);
	watch(loop, &old, ROUSE_READABLE);
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	on_another_thread(wake, waker);
	add_anew(loop, &old, &fresh);
	UNTIL(loop, woken);
	assert_int_equal(woken, 1);
	rouse_waker_unref(waker);
	newcomer_is_served(loop, &old, &fresh);
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
		pair(&many->ends[i]);
		many->ends[i].then = read_all;
		watch(loop, &many->ends[i], ROUSE_READABLE);
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

static int start(void **state)
{
	static WSADATA data;

	(void)state;
	return WSAStartup(MAKEWORD(2, 2), &data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f5_a_half_close_is_read_once_to_its_end),
	        cmocka_unit_test(f7_both_directions_at_once),
	        cmocka_unit_test(f6_an_abort_comes_with_any_interest),
	        cmocka_unit_test(a_connection_is_accepted_or_refused),
	        cmocka_unit_test(f3_closed_before_the_first_turn_its_number_is_used_anew),
	        cmocka_unit_test(f3_closed_while_asked_for_its_number_is_used_anew),
	        cmocka_unit_test(f3_closed_while_paused_its_number_is_used_anew),
	        cmocka_unit_test(f1_closed_in_its_callback_its_number_is_used_anew),
	        cmocka_unit_test(f1_two_ready_one_replaces_the_other),
	        cmocka_unit_test(f2_closed_while_watched_it_is_told_once),
	        cmocka_unit_test(a_ring_is_not_lost_to_an_add),
	        cmocka_unit_test(n2_two_hundred_handles_and_two_hundred_sockets),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
