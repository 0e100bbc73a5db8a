#include "app.h"

#import <AppKit/AppKit.h>
#include <unistd.h>

unsigned app_seen;
int app_alive;
const int app_stopped = NSRunStoppedResponse;

@interface OwnApplication : NSApplication
@end

@implementation OwnApplication
- (void)sendEvent:(NSEvent *)event
{
	if ([event type] == NSApplicationDefined && [event subtype] == APP_SUBTYPE)
		app_seen++;
	[super sendEvent:event];
}
@end

static unsigned waits;
static int fds[2];
static NSString *modes[3];

@interface Waits : NSObject <RunLoopEvents>
@end

@implementation Waits
- (BOOL)runLoopShouldBlock:(BOOL *)trigger
{
	*trigger = NO;
	waits += [[[NSRunLoop currentRunLoop] currentMode] isEqual:NSDefaultRunLoopMode];
	return YES;
}
- (void)receivedEvent:(void *)data
                 type:(RunLoopEventType)type
                extra:(void *)extra
              forMode:(NSString *)mode
{
	char byte;

	(void)data, (void)type, (void)extra, (void)mode;
	if (read(fds[0], &byte, 1) != 1)
		abort();
}
@end

void app_begin(bool own_class)
{
	Waits *watcher = [Waits new];

	modes[0] = NSDefaultRunLoopMode;
	modes[1] = NSModalPanelRunLoopMode;
	modes[2] = NSEventTrackingRunLoopMode;
	[NSAutoreleasePool new];
	if (own_class)
		[OwnApplication sharedApplication];
	else
		[NSApplication sharedApplication];
	if (pipe(fds))
		abort();
	for (int i = 0; i < 3; i++)
		[[NSRunLoop currentRunLoop] addEvent:(void *)(intptr_t)fds[0]
		                                type:ET_RDESC
		                             watcher:watcher
		                             forMode:modes[i]];
}

bool app_is_own(void)
{
	return [NSApp isKindOfClass:[OwnApplication class]];
}

void app_run(void)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];

	[NSApp run];
	[pool drain];
}

static void nothing(void)
{
	app_post(0, 0, 0);
}

int app_modal(void)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	NSPanel *panel = [[NSPanel alloc] initWithContentRect:NSMakeRect(0, 0, 100, 100)
	                                            styleMask:NSTitledWindowMask
	                                              backing:NSBackingStoreBuffered
	                                                defer:NO];
	int code;

	code = (int)[NSApp runModalForWindow:panel];
	[panel setReleasedWhenClosed:YES];
	[panel close];
	[pool drain];
	return code;
}

void app_stop_modal(void)
{
	[NSApp stopModal];
	nothing();
}

bool app_is_modal(void)
{
	return [NSApp modalWindow] != nil;
}

void app_track(const bool *end)
{
	while (!*end) {
		NSAutoreleasePool *pool = [NSAutoreleasePool new];

		[NSApp nextEventMatchingMask:NSLeftMouseUpMask | NSApplicationDefinedMask
		                   untilDate:[NSDate distantFuture]
		                      inMode:NSEventTrackingRunLoopMode
		                     dequeue:YES];
		[pool drain];
	}
}

@interface Once : NSObject {
@public
	void (*_fn)(void *data);
	void *_data;
}
- (void)fire:(NSTimer *)timer;
@end

@implementation Once
- (void)fire:(NSTimer *)timer
{
	/* GNUstep fires it again in a loop that is nested in it. */
	[timer invalidate];
	_fn(_data);
	/* A timer alone does not end GNUstep's wait for an event. */
	if (write(fds[1], "x", 1) != 1)
		abort();
}
@end

void app_timer(double seconds, void (*fn)(void *data), void *data)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	Once *once = [[Once new] autorelease];
	NSTimer *timer = [NSTimer timerWithTimeInterval:seconds
	                                         target:once
	                                       selector:@selector(fire:)
	                                       userInfo:nil
	                                        repeats:NO];

	once->_fn = fn;
	once->_data = data;
	for (int i = 0; i < 3; i++)
		[[NSRunLoop currentRunLoop] addTimer:timer forMode:modes[i]];
	[pool drain];
}

void app_post(short subtype, int64_t data1, int64_t data2)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];

	[NSApp postEvent:[NSEvent otherEventWithType:NSApplicationDefined
	                                    location:NSMakePoint(0, 0)
	                               modifierFlags:0
	                                   timestamp:0
	                                windowNumber:0
	                                     context:nil
	                                     subtype:subtype
	                                       data1:(NSInteger)data1
	                                       data2:(NSInteger)data2]
	         atStart:NO];
	[pool drain];
}

unsigned app_waits(void)
{
	return waits;
}

@interface Counted : NSObject
@end

@implementation Counted
- (void)dealloc
{
	app_alive--;
	[super dealloc];
}
@end

void app_autorelease(void)
{
	[[Counted new] autorelease];
	app_alive++;
}
