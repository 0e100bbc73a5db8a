/*
 * Finding the Objective-C runtime.
 *
 * Apple's and libobjc2 have functions for their pools, the same ones.  gcc's has messages alone,
 * and its pools are a class of GNUstep's.  libobjc2 uses that class by itself where it is there, so
 * the functions are asked for first.
 */
#include "pool/objc.h"

#include "os/os.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const struct rouse__objc *) found;

/* ---- With functions --------------------------------------------------------------------- */

static struct rouse__objc functions;

static int find_functions(struct rouse__objc *to)
{
	to->push = (void *(*)(void))rouse__symbol("objc_autoreleasePoolPush");
	to->pop = (void (*)(void *))rouse__symbol("objc_autoreleasePoolPop");
	to->release = (void (*)(void *))rouse__symbol("objc_release");
	return to->push && to->pop && to->release;
}

/* ---- With messages ------------------------------------------------------------------------ */

static struct messages {
	rouse__function (*method)(void *receiver, const void *name);
	void *pool_class;
	const void *new, *drain, *release;
} messages;

static void *send(void *receiver, const void *name)
{
	return ((void *(*)(void *, const void *))messages.method(receiver, name))(receiver, name);
}

/* Those that answer nothing. */
static void tell(void *receiver, const void *name)
{
	((void (*)(void *, const void *))messages.method(receiver, name))(receiver, name);
}

static void *new_pool(void)
{
	return send(messages.pool_class, messages.new);
}

static void drain_pool(void *pool)
{
	tell(pool, messages.drain);
}

static void release_object(void *object)
{
	tell(object, messages.release);
}

static const struct rouse__objc by_messages = {new_pool, drain_pool, release_object};

static int find_messages(struct messages *to)
{
	void *(*class_of)(const char *) =
	        (void *(*)(const char *))rouse__symbol("objc_lookUpClass");
	const void *(*named)(const char *) =
	        (const void *(*)(const char *))rouse__symbol("sel_registerName");

	to->method = (rouse__function(*)(void *, const void *))rouse__symbol("objc_msg_lookup");
	if (!class_of || !named || !to->method)
		return 0;
	to->pool_class = class_of("NSAutoreleasePool");
	to->new = named("new");
	to->drain = named("drain");
	to->release = named("release");
	return to->pool_class != NULL;
}

/* ---- Either -----------------------------------------------------------------------------------
 */

/* Outside the lock: the runtime has locks of its own.  Whoever looks at the same time finds the
 * same. */
static const struct rouse__objc *find(void)
{
	const struct rouse__objc *which = NULL;
	struct rouse__objc some_functions;
	struct messages some_messages = {0};

	if (find_functions(&some_functions))
		which = &functions;
	else if (find_messages(&some_messages))
		which = &by_messages;
	if (!which)
		return NULL;
	rouse__lock();
	if (!atomic_load_explicit(&found, memory_order_relaxed)) {
		functions = some_functions;
		messages = some_messages;
		atomic_store_explicit(&found, which, memory_order_release);
	}
	rouse__unlock();
	return atomic_load_explicit(&found, memory_order_relaxed);
}

const struct rouse__objc *rouse__objc_runtime(void)
{
	const struct rouse__objc *is = atomic_load_explicit(&found, memory_order_acquire);

	return is ? is : find();
}
