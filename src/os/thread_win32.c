#include "os/os.h"

#include <winsock2.h>
#include <windows.h>

ROUSE__LOCAL uint64_t rouse__this_thread;
static ROUSE__LOCAL int last_os_error;

uint64_t rouse__thread_serial(void)
{
	static _Atomic uint64_t last;
	uint64_t *mine = ROUSE__MINE(rouse__this_thread);

	if (!*mine)
		*mine = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	return *mine;
}

int rouse__os_failed(int os_error)
{
	*ROUSE__MINE(last_os_error) = os_error;
	switch (os_error) {
	case ERROR_NOT_ENOUGH_MEMORY:
	case ERROR_OUTOFMEMORY:
	case ERROR_NO_SYSTEM_RESOURCES:
	case ERROR_COMMITMENT_LIMIT:
	case WSAENOBUFS:
		return ROUSE_ENOMEM;
	default:
		return ROUSE_EOS;
	}
}

int rouse_os_error(void)
{
	return *ROUSE__MINE(last_os_error);
}

/* ---- A thread's end -------------------------------------------------------------- */

/*
 * The system tells of it twice, each time once.  First it calls what was put into fiber-local
 * storage, outside the loader's lock: that is when loops end, whose cancel functions are
 * the user's and may wait for others, and when pools are drained.  Then, under that lock, it calls
 * the modules: pools are drained of what other modules' ends have left in them, for the last time.
 *
 * As the process ends the other threads are gone already, wherever they were, and nothing is
 * done.  A fiber that is deleted by another one is no thread's end, either.
 */
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static DWORD slot = FLS_OUT_OF_INDEXES;

struct at_end {
	void (*fn[ROUSE__ENDS])(int last);
	unsigned rounds;
	int armed;
	void *fiber; /* in which that was; NULL: the thread was none */
};
static ROUSE__LOCAL struct at_end at_end;

static int process_ends(void)
{
	static _Atomic(FARPROC) known;
	FARPROC ask = atomic_load_explicit(&known, memory_order_relaxed);

	if (!ask) {
		ask = GetProcAddress(GetModuleHandleW(L"ntdll"), "RtlDllShutdownInProgress");
		atomic_store_explicit(&known, ask, memory_order_relaxed);
	}
	return ask && ((BOOLEAN(WINAPI *)(void))(void (*)(void))ask)();
}

static void end(enum rouse__ends kind, int last)
{
	void (*fn)(int) = ROUSE__MINE(at_end)->fn[kind];

	if (fn)
		fn(last);
}

/* The header reads it from where gcc thinks that nothing is. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
__attribute__((noinline)) static void *this_fiber(void)
{
	return IsThreadAFiber() ? GetCurrentFiber() : NULL;
}
#pragma GCC diagnostic pop

static void WINAPI storage_ends(void *value)
{
	struct at_end *mine = ROUSE__MINE(at_end);

	if (value != mine || process_ends())
		return;
	if (mine->fiber && mine->fiber != this_fiber()) {
		mine->fiber = this_fiber();
		FlsSetValue(slot, mine);
		return;
	}
	mine->rounds++;
	end(ROUSE__LOOPS_END, 1);
	end(ROUSE__POOLS_END, 0);
}

static void NTAPI module_told(void *module, DWORD why, void *reserved)
{
	struct at_end *mine = ROUSE__MINE(at_end);

	(void)module;
	if (why == DLL_PROCESS_DETACH && !reserved && slot != FLS_OUT_OF_INDEXES)
		FlsFree(slot);
	if (why != DLL_THREAD_DETACH || !mine->rounds || process_ends())
		return;
	mine->rounds++;
	end(ROUSE__POOLS_END, 1);
}

/* Where the system looks for such callbacks, between the first and the last of the C runtime's. */
__attribute__((section(".CRT$XLR"), used)) static const PIMAGE_TLS_CALLBACK telling = module_told;

unsigned rouse__thread_end_round(void)
{
	return ROUSE__MINE(at_end)->rounds;
}

int rouse__stay_loaded(void)
{
	HMODULE self;

	return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
	                                  GET_MODULE_HANDLE_EX_FLAG_PIN,
	                          (const WCHAR *)(const void *)&slot, &self);
}

/* Our own library is never unloaded: a thread's end calls into it.  A plugin that contains
 * this one may be, and gives the slot back then. */
static BOOL CALLBACK make_slot(INIT_ONCE *init_once, void *parameter, void **context)
{
	(void)init_once;
	(void)parameter;
	(void)context;
#ifndef ROUSE_STATIC
	if (!rouse__stay_loaded())
		return FALSE;
#endif
	slot = FlsAlloc(storage_ends);
	return slot != FLS_OUT_OF_INDEXES;
}

void rouse__not_at_thread_end(enum rouse__ends kind)
{
	struct at_end *mine = ROUSE__MINE(at_end);

	mine->fn[kind] = NULL;
	for (int other = 0; other < ROUSE__ENDS; other++)
		if (mine->fn[other])
			return;
	if (mine->armed)
		FlsSetValue(slot, NULL);
	mine->armed = 0;
}

int rouse__at_thread_end(enum rouse__ends kind, void (*fn)(int last))
{
	struct at_end *mine = ROUSE__MINE(at_end);

	if (!mine->armed) {
		if (!InitOnceExecuteOnce(&once, make_slot, NULL, NULL) || !FlsSetValue(slot, mine))
			return rouse__os_failed((int)GetLastError());
		mine->fiber = this_fiber();
		mine->armed = 1;
	}
	mine->fn[kind] = fn;
	return 0;
}
