/* What the tests of this room share: threads, handles and processes of the system's own. */
#ifndef ROUSE_TESTS_WIN32_H
#define ROUSE_TESTS_WIN32_H

#include <winsock2.h>
#include <windows.h>

#include "core/fault.h"
#include "unit/unit.h"

#include <process.h>

/* Turn until `condition`; whether that ever comes is the test. */
#define UNTIL(loop, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			assert_true(rouse_loop_turn((loop), ROUSE_NEVER) >= 0);                    \
	} while (0)

/* Turn without waiting until nothing is left, and longer than a thread of the pool's needs. */
static inline int drain(rouse_loop *loop)
{
	int sum = 0;

	for (int quiet = 0; quiet < 3; quiet++) {
		int ran = rouse_loop_turn(loop, rouse_now() + 20 * MS);

		assert_true(ran >= 0);
		sum += ran;
		if (ran)
			quiet = -1;
		assert_true(sum < 10000);
	}
	return sum;
}

/* Counted one by one: wine says 0 when it is asked how many a process has. */
static inline unsigned open_handles(void)
{
	unsigned count = 0;
	DWORD flags;

	for (uintptr_t number = 4; number < 8192; number += 4)
		count += GetHandleInformation((HANDLE)number, &flags) != 0;
	return count;
}

static inline HANDLE start_thread(unsigned(__stdcall *fn)(void *), void *data)
{
	HANDLE thread = (HANDLE)_beginthreadex(NULL, 0, fn, data, 0, NULL);

	assert_non_null(thread);
	return thread;
}

static inline DWORD join_thread(HANDLE thread)
{
	DWORD code = 1;

	assert_int_equal(WaitForSingleObject(thread, INFINITE), WAIT_OBJECT_0);
	assert_true(GetExitCodeThread(thread, &code));
	CloseHandle(thread);
	return code;
}

#endif
