/* libobjc2's, as far as it is installed: its functions are looked up, and its objects are of a root
 * class that is made at run time.  No Foundation is needed. */
#include "objects.h"

#include <dlfcn.h>
#include <stddef.h>

typedef void (*method)(void *self, const void *name);

static struct {
	void *class;
	void *(*class_named)(void *super, const char *name, size_t extra);
	void (*class_ready)(void *class);
	signed char (*class_method)(void *class, const void *name, method method,
	                            const char *types);
	void *(*instance)(void *class, size_t extra);
	void *(*dispose)(void *object);
	void *(*extra)(void *object);
	const void *(*named)(const char *name);
	void *(*autorelease)(void *object);
	void (*release)(void *object);
	void *(*push)(void);
	void (*pop)(void *pool);
} objc;

struct counted {
	object_dead_fn dead;
	void *ctx;
};

static _Atomic int alive;

const int their_newest_first = 1;
const int their_ends_nest = 1;

static void dealloc(void *self, const void *name)
{
	struct counted was = *(struct counted *)objc.extra(self);

	(void)name;
	alive--;
	if (was.dead)
		was.dead(was.ctx);
	objc.dispose(self);
}

static int find(void *library, const char *name, void *to)
{
	return (*(void **)to = dlsym(library, name)) != NULL;
}

int objects_begin(void)
{
	void *library = dlopen("libobjc.so.4.6", RTLD_NOW | RTLD_GLOBAL);

	if (!library || !find(library, "objc_allocateClassPair", &objc.class_named) ||
	    !find(library, "objc_registerClassPair", &objc.class_ready) ||
	    !find(library, "class_addMethod", &objc.class_method) ||
	    !find(library, "class_createInstance", &objc.instance) ||
	    !find(library, "object_dispose", &objc.dispose) ||
	    !find(library, "object_getIndexedIvars", &objc.extra) ||
	    !find(library, "sel_registerName", &objc.named) ||
	    !find(library, "objc_autorelease", &objc.autorelease) ||
	    !find(library, "objc_release", &objc.release) ||
	    !find(library, "objc_autoreleasePoolPush", &objc.push) ||
	    !find(library, "objc_autoreleasePoolPop", &objc.pop))
		return 0;
	objc.class = objc.class_named(NULL, "Counted", 0);
	if (!objc.class || !objc.class_method(objc.class, objc.named("dealloc"), dealloc, "v@:"))
		return 0;
	objc.class_ready(objc.class);
	return 1;
}

void *object_new(object_dead_fn dead, void *ctx)
{
	void *object = objc.instance(objc.class, sizeof(struct counted));

	*(struct counted *)objc.extra(object) = (struct counted){dead, ctx};
	alive++;
	return object;
}

void object_release(void *object)
{
	objc.release(object);
}

void object_autorelease(void *object)
{
	objc.autorelease(object);
}

int objects_alive(void)
{
	return alive;
}

void *their_pool(void)
{
	return objc.push();
}

void their_pool_drain(void *pool)
{
	objc.pop(pool);
}

void *their_newest(void)
{
	return NULL;
}
