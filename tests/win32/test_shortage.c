/* A system without memory, handles or patience: each failure says so and changes nothing. */
#include "win32.h"

#include <string.h>

/* The driver's words for "no memory" and "no". */
enum { UNSUCCESSFUL = 0x01, NO_RESOURCES = 0x9A, DENIED = 0x22 };

static int runs, fd_runs, fired;

static void run(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)handle;
	(void)data;
	assert_int_equal(events, ROUSE_READABLE);
	runs++;
}

static void run_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	char sink[16];

	(void)loop;
	(void)self;
	(void)data;
	assert_int_equal(events, ROUSE_READABLE);
	assert_true(recv(fd, sink, sizeof sink, 0) > 0);
	fd_runs++;
}

static void fire(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	(void)data;
	assert_true(rouse_loop_now(loop) >= deadline);
	fired++;
}

static int setup(void **state)
{
	static WSADATA data;

	(void)state;
	runs = fd_runs = fired = 0;
	rouse__fault_reset();
	return WSAStartup(MAKEWORD(2, 2), &data);
}

static void finish(rouse_loop *loop)
{
	rouse__fault_reset();
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static HANDLE event(void)
{
	HANDLE handle = CreateEventW(NULL, FALSE, FALSE, NULL);

	assert_non_null(handle);
	return handle;
}

/* One datagram socket that hears itself. */
static SOCKET echo(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int size = sizeof at;
	SOCKET s = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(s != INVALID_SOCKET);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(s, (struct sockaddr *)&at, sizeof at), 0);
	return s;
}

/* ---- Adding -----------------------------------------------------------------------------------
 */

static int add_handle(rouse_loop *loop, HANDLE handle, SOCKET s, rouse_source *ret_source)
{
	(void)s;
	return rouse_handle_add(loop, handle, run, NULL, ret_source);
}

static int add_socket(rouse_loop *loop, HANDLE handle, SOCKET s, rouse_source *ret_source)
{
	(void)handle;
	return rouse_fd_add(loop, s, ROUSE_READABLE, run_fd, NULL, ret_source);
}

typedef int add_fn(rouse_loop *loop, HANDLE handle, SOCKET s, rouse_source *ret_source);

static void works(rouse_loop *loop, HANDLE handle, SOCKET s)
{
	int before = runs, fd_before = fd_runs;
	rouse_source one, two;

	assert_int_equal(add_handle(loop, handle, s, &one), 0);
	assert_int_equal(add_socket(loop, handle, s, &two), 0);
	SetEvent(handle);
	assert_int_equal(send(s, "x", 1, 0), 1);
	UNTIL(loop, runs > before && fd_runs > fd_before);
	assert_int_equal(rouse_remove(loop, one), 0);
	assert_int_equal(rouse_remove(loop, two), 0);
}

static void l9_adding_without_memory(void **state)
{
	add_fn *const adds[] = {add_handle, add_socket};
	HANDLE handle = event();
	SOCKET s = echo();

	(void)state;
	for (size_t kind = 0; kind < COUNT(adds); kind++) {
		int error = ROUSE_ENOMEM;

		for (unsigned n = 1; error; n++) {
			struct counting c;
			rouse_loop *loop;
			rouse_source source = {12345};

			counting_init(&c);
			loop = loop_on("win32", &c);
			counting_fail(&c, n);
			error = adds[kind](loop, handle, s, &source);
			c.fail_at = 0;
			if (error) {
				assert_int_equal(error, ROUSE_ENOMEM);
				assert_true(source.id == 12345);
			} else {
				assert_true(n > 2);
				assert_int_equal(rouse_remove(loop, source), 0);
			}
			works(loop, handle, s);
			finish(loop);
			counting_check(&c);
		}
	}
	CloseHandle(handle);
	closesocket(s);
}

/* What a pool had goes with its thread, in its own time. */
static void back_to(unsigned handles)
{
	for (int i = 0; i < 1000 && open_handles() > handles + 10; i++)
		Sleep(10);
	assert_true(open_handles() <= handles + 10);
}

/* The calls that adding makes, in a loop that never did so before and in one that did. */
static void adding_while_the_system_refuses(void **state)
{
	static const struct {
		add_fn *add;
		enum rouse__call call;
		unsigned skip;
		int os_error, error, only_first;
	} rows[] = {
	        {add_handle, ROUSE__DUPLICATE, 0, ERROR_ACCESS_DENIED, ROUSE_EOS, 0},
	        {add_handle, ROUSE__DUPLICATE, 0, ERROR_NO_SYSTEM_RESOURCES, ROUSE_ENOMEM, 0},
	        {add_handle, ROUSE__WAIT, 0, ERROR_NOT_ENOUGH_MEMORY, ROUSE_ENOMEM, 0},
	        {add_handle, ROUSE__WAIT, 1, ERROR_NO_SYSTEM_RESOURCES, ROUSE_ENOMEM, 1},
	        {add_handle, ROUSE__WAIT, 2, ERROR_NOT_ENOUGH_MEMORY, ROUSE_ENOMEM, 1},
	        {add_socket, ROUSE__AFD_OPEN, 0, NO_RESOURCES, ROUSE_ENOMEM, 1},
	        {add_socket, ROUSE__AFD_OPEN, 0, UNSUCCESSFUL, ROUSE_EOS, 1},
	        {add_socket, ROUSE__BASE_HANDLE, 0, WSAENOBUFS, ROUSE_ENOMEM, 0},
	        {add_socket, ROUSE__AFD_POLL, 0, NO_RESOURCES, ROUSE_ENOMEM, 0},
	        {add_socket, ROUSE__AFD_POLL, 0, DENIED, ROUSE_EOS, 0},
	};
	HANDLE handle = event();
	SOCKET s = echo();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int warm = 0; warm <= !rows[i].only_first; warm++) {
			struct counting c;
			rouse_source source = {12345};
			rouse_loop *loop;
			unsigned held, handles;

			counting_init(&c);
			loop = loop_on("win32", &c);
			if (warm)
				works(loop, handle, s);
			assert_true(rouse_loop_turn(loop, 0) >= 0);
			held = atomic_load(&c.outstanding);
			handles = open_handles();
			for (int n = 0; n < 30; n++) {
				/* Where the pool's wait is refused the pool is there the next time.
				 */
				unsigned skip = n && rows[i].skip == 2 ? 0 : rows[i].skip;

				rouse__fault_fail(rows[i].call, skip, 1, rows[i].os_error);
				assert_int_equal(rows[i].add(loop, handle, s, &source),
				                 rows[i].error);
			}
			assert_true(source.id == 12345);
			rouse__fault_reset();
			back_to(handles);
			/* The table of sources may have grown. */
			assert_true(atomic_load(&c.outstanding) <= held + 1);
			works(loop, handle, s);
			finish(loop);
			counting_check(&c);
		}
	CloseHandle(handle);
	closesocket(s);
}

/* ---- Waiting ------------------------------------------------------------------------------------
 */

static void a_socket_that_cannot_be_asked_for_is_asked_for_again(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE handle = event();
	SOCKET s = echo(), other = echo();
	rouse_source source;

	(void)state;
	assert_int_equal(add_socket(loop, handle, s, &source), 0);
	assert_int_equal(add_socket(loop, handle, other, NULL), 0);
	assert_int_equal(add_handle(loop, handle, s, NULL), 0);
	assert_int_equal(send(s, "x", 1, 0), 1);
	rouse__fault_fail(ROUSE__AFD_POLL, 0, 5, NO_RESOURCES);
	/* It does not block, and says why; and others are served. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_ENOMEM);
	SetEvent(handle);
	assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_ENOMEM);
	rouse__fault_reset();
	UNTIL(loop, fd_runs && runs);
	assert_int_equal(stats_of(loop).fds_dropped, 0);
	assert_int_equal(rouse_fd_set_events(loop, source, ROUSE_READABLE), 0);
	assert_int_equal(send(other, "x", 1, 0), 1);
	UNTIL(loop, fd_runs == 2);
	assert_int_equal(drain(loop), 0);
	finish(loop);
	closesocket(s);
	closesocket(other);
	CloseHandle(handle);
}

static void a_ring_of_the_pools_is_repeated(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE handle = event();
	rouse_source source;
	unsigned rings;

	(void)state;
	assert_int_equal(add_handle(loop, handle, 0, &source), 0);
	for (int i = 1; i <= 3; i++) {
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		rouse__fault_fail(ROUSE__RING, 0, 4, ERROR_NO_SYSTEM_RESOURCES);
		SetEvent(handle);
		UNTIL(loop, runs == i);
	}
	/* A deadline is told by the pool as well. */
	rouse__fault_fail(ROUSE__RING, 0, 4, ERROR_NO_SYSTEM_RESOURCES);
	assert_int_equal(rouse_timer_add(loop, rouse_now() + 20 * MS, 0, 0, fire, NULL, NULL), 0);
	UNTIL(loop, fired);
	/* And whoever leaves does not wait for that. */
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	rouse__fault_fail(ROUSE__RING, 0, 1000000000, ERROR_NO_SYSTEM_RESOURCES);
	rings = rouse__fault_count(ROUSE__RING);
	SetEvent(handle);
	while (rouse__fault_count(ROUSE__RING) < rings + 8)
		Sleep(1);
	assert_int_equal(rouse_remove(loop, source), 0);
	/* Nor leaves anybody behind. */
	rings = rouse__fault_count(ROUSE__RING);
	Sleep(50);
	assert_int_equal(rouse__fault_count(ROUSE__RING), rings);
	finish(loop);
	CloseHandle(handle);
}

static void a_deadline_without_a_timer(void **state)
{
	static const struct {
		enum rouse__call call;
		unsigned skip;
	} rows[] = {{ROUSE__TIMER, 0}, {ROUSE__FINE_TIMER, 0}, {ROUSE__TIMER_SET, 0},
	            {ROUSE__WAIT, 0},  {ROUSE__WAIT, 1},       {ROUSE__WAIT, 2}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct counting c;
		rouse_loop *loop;

		counting_init(&c);
		loop = loop_on("win32", &c);
		fired = 0;
		rouse__fault_fail(rows[i].call, rows[i].skip, 1000000, ERROR_NO_SYSTEM_RESOURCES);
		for (int n = 1; n <= 3; n++) {
			assert_int_equal(rouse_timer_add(loop, rouse_now() + 15 * MS, 0, 0, fire,
			                                 NULL, NULL),
			                 0);
			UNTIL(loop, fired == n);
		}
		/* Coarser, but no busy waiting. */
		assert_true(stats_of(loop).turns < 30);
		assert_true(rouse__fault_count(rows[i].call) > 0);
		finish(loop);
		counting_check(&c);
	}
}

static void a_wait_that_fails_loses_nothing(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE handle = event();
	SOCKET s = echo();

	(void)state;
	assert_int_equal(add_handle(loop, handle, s, NULL), 0);
	assert_int_equal(add_socket(loop, handle, s, NULL), 0);
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	rouse__fault_fail(ROUSE__PORT_WAIT, 0, 2, ERROR_NO_SYSTEM_RESOURCES);
	SetEvent(handle);
	assert_int_equal(send(s, "x", 1, 0), 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_ENOMEM);
	UNTIL(loop, runs == 1 && fd_runs == 1);
	assert_int_equal(drain(loop), 0);
	finish(loop);
	closesocket(s);
	CloseHandle(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(l9_adding_without_memory, setup),
	        cmocka_unit_test_setup(adding_while_the_system_refuses, setup),
	        cmocka_unit_test_setup(a_socket_that_cannot_be_asked_for_is_asked_for_again, setup),
	        cmocka_unit_test_setup(a_ring_of_the_pools_is_repeated, setup),
	        cmocka_unit_test_setup(a_deadline_without_a_timer, setup),
	        cmocka_unit_test_setup(a_wait_that_fails_loses_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
