/*
 * Preloaded into `rouse bench`: other libraries' own wakes, some of which come to nothing, or come
 * twice, or too late.  ROUSE_TEST_WAKES says which of that, and how many from the fifth call on:
 * "drop 3", "twice 3", "later 1": with the next call, "after 1": when SDL is back in the loop.  How
 * many there were is told on standard error.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { FIRST = 5 };

static unsigned calls, done;

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "altered %u\n", done);
}

/* How often this call is to be made; -1: with the next one; -2: when SDL is back in the loop. */
static int times(void)
{
	const char *how = getenv("ROUSE_TEST_WAKES");
	unsigned count = how ? (unsigned)atoi(strchr(how, ' ') + 1) : 0;

	calls++;
	if (calls < FIRST || calls >= FIRST + count)
		return 1;
	done++;
	return *how == 'd' ? 0 : *how == 't' ? 2 : *how == 'l' ? -1 : -2;
}

EXPORT unsigned g_idle_add_full(int priority, int (*fn)(void *), void *data, void (*gone)(void *))
{
	unsigned (*real)(int, int (*)(void *), void *, void (*)(void *));
	unsigned id = 1;

	*(void **)&real = dlsym(RTLD_NEXT, "g_idle_add_full");
	for (int n = times(); n > 0; n--)
		id = real(priority, fn, data, gone);
	return id;
}

EXPORT int uv_async_send(void *async)
{
	int (*real)(void *);
	int result = 0;

	*(void **)&real = dlsym(RTLD_NEXT, "uv_async_send");
	for (int n = times(); n > 0; n--)
		result = real(async);
	return result;
}

EXPORT void glfwPostEmptyEvent(void)
{
	void (*real)(void);

	*(void **)&real = dlsym(RTLD_NEXT, "glfwPostEmptyEvent");
	for (int n = times(); n > 0; n--)
		real();
}

EXPORT int rouse_appkit_post(void *appkit, int64_t data1, int64_t data2)
{
	int (*real)(void *, int64_t, int64_t);
	int result = 0;

	*(void **)&real = dlsym(RTLD_NEXT, "rouse_appkit_post");
	for (int n = times(); n > 0; n--)
		result = real(appkit, data1, data2);
	return result;
}

/* An SDL_Event, which is 56 bytes by SDL's promise. */
static char held[56];
static atomic_int holds;

EXPORT int SDL_PushEvent(void *event)
{
	int (*real)(void *);
	int result = 1, n = times();

	*(void **)&real = dlsym(RTLD_NEXT, "SDL_PushEvent");
	if (n < 0) {
		memcpy(held, event, sizeof held);
		atomic_store(&holds, n);
	} else if (atomic_load(&holds) == -1) {
		atomic_store(&holds, 0);
		real(held);
	}
	for (; n > 0; n--)
		result = real(event);
	return result;
}

/* The last thing that is done when SDL is put back into the loop. */
EXPORT void SDL_AddEventWatch(int (*fn)(void *, void *), void *data)
{
	void (*real)(int (*)(void *, void *), void *);
	int (*push)(void *);

	*(void **)&real = dlsym(RTLD_NEXT, "SDL_AddEventWatch");
	*(void **)&push = dlsym(RTLD_NEXT, "SDL_PushEvent");
	real(fn, data);
	if (atomic_load(&holds) != -2)
		return;
	atomic_store(&holds, 0);
	push(held);
}

/* QMetaObject::invokeMethodImpl(QObject *, QtPrivate::QSlotObjectBase *, Qt::ConnectionType,
 * void *): what the header's template calls. */
#define INVOKE                                                                                     \
	"_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseE"               \
	"N2Qt14ConnectionTypeEPv"
EXPORT _Bool invoke(void *object, void *slot, int type, void *result) __asm__(INVOKE);

_Bool invoke(void *object, void *slot, int type, void *result)
{
	_Bool (*real)(void *, void *, int, void *);

	*(void **)&real = dlsym(RTLD_NEXT, INVOKE);
	return times() == 0 || real(object, slot, type, result);
}
