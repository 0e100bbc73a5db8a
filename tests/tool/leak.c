/*
 * Preloaded: pools that forget the release of every 1000th object that they are handed by a call.
 */
#include <dlfcn.h>
#include <stdatomic.h>

#include <rouse/pool.h>

void *rouse_autorelease(void *object, rouse_release_fn release)
{
	static _Atomic unsigned calls;
	void *(*real)(void *, rouse_release_fn);

	if (atomic_fetch_add(&calls, 1) % 1000 == 999)
		return object;
	*(void **)&real = dlsym(RTLD_NEXT, "rouse_autorelease");
	return real(object, release);
}
