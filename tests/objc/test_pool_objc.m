/* An Objective-C program's pools: scopes that are left by return and by exceptions, and its
 * objects. */
#undef NDEBUG
#import <Foundation/NSAutoreleasePool.h>
#import <Foundation/NSException.h>
#import <Foundation/NSString.h>

#include <rouse/pool.h>

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int released;

static void release(void *object)
{
	released++;
	free(object);
}

@interface Emitter : NSObject {
	int _n;
}
+ (Emitter *)emitter;
- (int)emit:(int)n;
@end

@implementation Emitter
/* Into ours, as +array and its like go into theirs. */
+ (Emitter *)emitter
{
	return rouse_autorelease([Emitter new], rouse_release_objc);
}

- (int)emit:(int)n
{
	ROUSE_POOL_SCOPE
	{
		(void)rouse_autorelease(malloc(1), release);
		[Emitter emitter]->_n = n;
		if (n)
			return n;
	}
	return 0;
}

- (void)dealloc
{
	released++;
	[super dealloc];
}
@end

static void *on_a_thread(void *unused)
{
	(void)[Emitter emitter];
	return unused;
}

static void throw_out(void)
{
	ROUSE_POOL_SCOPE
	{
		(void)[Emitter emitter];
		ROUSE_POOL_SCOPE
		{
			(void)[Emitter emitter];
			@throw @"out";
		}
	}
}

int main(void)
{
	NSAutoreleasePool *outside = [NSAutoreleasePool new];
	rouse_pool_stats stats = {.size = sizeof stats};
	Emitter *emitter = [Emitter new];
	pthread_t thread;

	assert([emitter emit:7] == 7 && released == 2);
	assert([emitter emit:0] == 0 && released == 4);
	@try {
		throw_out();
		assert(0);
	} @catch (NSString *caught) {
		assert([caught isEqual:@"out"] && released == 6);
	}
	assert(pthread_create(&thread, NULL, on_a_thread, NULL) == 0);
	assert(pthread_join(thread, NULL) == 0 && released == 7);

	/* With theirs: what the scopes hold of either side goes as the exception passes. */
	assert(rouse_pool_bridge_objc() == 0);
	@try {
		ROUSE_POOL_SCOPE
		{
			(void)[[Emitter new] autorelease];
			throw_out();
		}
		assert(0);
	} @catch (NSString *caught) {
		assert([caught isEqual:@"out"] && released == 10);
	}
	ROUSE_POOL_SCOPE
	{
		(void)[emitter autorelease];
		assert(released == 10);
	}
	assert(released == 11);

	assert(rouse_pool_stats_process(&stats) == 0);
	assert(stats.live == 0 && stats.skipped == 0 && stats.stranded == 0 && stats.missing == 1);
	[outside drain];
	return 0;
}
