/*
 * A carrier by the watchers of GNUstep's NSRunLoop, which knows no common modes: one in each mode.
 *
 * A run loop asks its watchers before each wait whether it may block for them, and does not look at
 * one any more whose receiver was removed in there, but for its type: so what is closed in that
 * moment asks to be triggered instead, and leaves then.  Receivers are not retained.
 */
#include "carrier.h"

#import <AppKit/AppKit.h>

@interface RouseCarrier : NSObject <RunLoopEvents> {
@public
	struct rouse__carried _carried;
	void *_descriptor;
	NSRunLoop *_loop;
	NSMutableArray *_modes;
	BOOL _closed, _asking;
}
- (void)leave;
@end

@implementation RouseCarrier
- (BOOL)runLoopShouldBlock:(BOOL *)trigger
{
	*trigger = YES;
	if (_closed)
		return NO;
	[self retain];
	_asking = YES;
	BOOL first = _carried.before_wait(_carried.data) != 0;
	_asking = NO;
	BOOL block = !first && !_closed;
	[self release];
	return block;
}

- (void)receivedEvent:(void *)data
                 type:(RunLoopEventType)type
                extra:(void *)extra
              forMode:(NSString *)mode
{
	(void)data, (void)type, (void)extra, (void)mode;
	if (_closed) {
		[self leave];
		return;
	}
	[self retain];
	_carried.ready(_carried.data);
	[self release];
}

- (void)leave
{
	NSMutableArray *modes = _modes;

	_modes = nil;
	for (NSUInteger i = 0; i < [modes count]; i++)
		[_loop removeEvent:_descriptor
		              type:ET_RDESC
		           forMode:[modes objectAtIndex:i]
		               all:YES];
	if (modes) {
		[modes release];
		[self release];
	}
}

- (void)dealloc
{
	[_loop release];
	[super dealloc];
}
@end

static NSMutableArray *array_of(const char *const *modes)
{
	NSMutableArray *array = [NSMutableArray new];

	for (; modes && *modes; modes++)
		[array addObject:[NSString stringWithUTF8String:*modes]];
	if (modes)
		return array;
	[array addObject:NSDefaultRunLoopMode];
	[array addObject:NSModalPanelRunLoopMode];
	[array addObject:NSEventTrackingRunLoopMode];
	return array;
}

struct rouse__carrier *rouse__carrier_open(int fd, const char *const *modes,
                                           const struct rouse__carried *carried)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	RouseCarrier *carrier = [RouseCarrier new];

	carrier->_carried = *carried;
	carrier->_descriptor = (void *)(intptr_t)fd;
	carrier->_loop = [[NSRunLoop currentRunLoop] retain];
	carrier->_modes = array_of(modes);
	for (NSUInteger i = 0; i < [carrier->_modes count]; i++)
		[carrier->_loop addEvent:carrier->_descriptor
		                    type:ET_RDESC
		                 watcher:carrier
		                 forMode:[carrier->_modes objectAtIndex:i]];
	[pool drain];
	return (struct rouse__carrier *)carrier;
}

void rouse__carrier_close(struct rouse__carrier *of)
{
	RouseCarrier *carrier = (RouseCarrier *)of;
	NSAutoreleasePool *pool;

	carrier->_closed = YES;
	if (carrier->_asking)
		return;
	pool = [NSAutoreleasePool new];
	[carrier leave];
	[pool drain];
}
