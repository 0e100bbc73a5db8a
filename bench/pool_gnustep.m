/*
 * GNUstep: NSAutoreleasePool.  Its objects are blocks of malloc() with a class, whose release is
 * free(): no reference is counted and nothing is constructed, so the pool is all that they cost.
 */
#import <Foundation/NSAutoreleasePool.h>
#import <Foundation/NSObject.h>

#include <stdlib.h>

#include "pool_rows.h"

@interface BenchBlock : NSObject
@end
@implementation BenchBlock
- (oneway void)release
{
	free(self);
}
@end

@interface BenchNothing : NSObject
@end
@implementation BenchNothing
- (oneway void)release
{
	release_nothing(self);
}
@end

static id as(Class class, void *memory)
{
	*(Class *)memory = class;
	return (id)memory;
}

static void empty(unsigned times)
{
	while (times-- > 0)
		[[NSAutoreleasePool new] drain];
}

static void releases(unsigned times)
{
	static Class memory[1];
	id object = as([BenchNothing class], memory);

	while (times > 0) {
		NSAutoreleasePool *pool = [NSAutoreleasePool new];

		for (unsigned i = 0; i < 64 && times > 0; i++, times--)
			[object autorelease];
		[pool drain];
	}
}

static void posts(unsigned count, unsigned batch)
{
	Class block = [BenchBlock class];

	while (count > 0) {
		NSAutoreleasePool *pool = [NSAutoreleasePool new];

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			[as(block, malloc(OBJECT)) autorelease];
			[as(block, malloc(OBJECT)) autorelease];
		}
		[pool drain];
	}
}

const struct pool_rows rows_gnustep = {"GNUstep", 0, empty, releases, posts};
