/* Foundation's, without reference counting by the compiler. */
#include "objects.h"

#import <Foundation/NSAutoreleasePool.h>
#import <Foundation/NSObject.h>

static int alive;

@interface Counted : NSObject {
	object_dead_fn _dead;
	void *_ctx;
}
@end

@implementation Counted
- (id)initWith:(object_dead_fn)dead ctx:(void *)ctx
{
	self = [super init];
	_dead = dead;
	_ctx = ctx;
	__atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
	return self;
}

- (void)dealloc
{
	__atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
	if (_dead)
		_dead(_ctx);
	[super dealloc];
}
@end

#ifdef GNUSTEP_BASE_VERSION
const int their_newest_first = 0;
const int their_ends_nest = 0;
#else
const int their_newest_first = 1;
const int their_ends_nest = 1;
#endif

int objects_begin(void)
{
	return 1;
}

void *object_new(object_dead_fn dead, void *ctx)
{
	return [[Counted alloc] initWith:dead ctx:ctx];
}

void object_release(void *object)
{
	[(id)object release];
}

void object_autorelease(void *object)
{
	(void)[(id)object autorelease];
}

int objects_alive(void)
{
	return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}

void *their_pool(void)
{
	return [NSAutoreleasePool new];
}

void their_pool_drain(void *pool)
{
	[(NSAutoreleasePool *)pool drain];
}

void *their_newest(void)
{
	return [NSAutoreleasePool currentPool];
}
