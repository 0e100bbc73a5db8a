/* AppKit, as far as appkit.c needs it.  No reference counting by the compiler; every function that
 * makes an object has a pool of its own, so that callers on any thread need none. */
#include "appkit_native.h"

#import <AppKit/AppKit.h>

#if defined(GNUSTEP_GUI_MINOR_VERSION) && GNUSTEP_GUI_MINOR_VERSION < 31
#define NSEventTypeApplicationDefined NSApplicationDefined
#define NSEventMaskAny NSAnyEventMask
#endif

static BOOL launching;

int rouse__app_is_main_thread(void)
{
	return [NSThread isMainThread];
}

/* ---- Events that are ours ------------------------------------------------------------- */

static BOOL take(NSEvent *event)
{
	if ([event type] != NSEventTypeApplicationDefined)
		return NO;
	if ([event subtype] != ROUSE__APP_NUDGE)
		return rouse__appkit_deliver([event subtype], [event data1], [event data2]) != 0;
	if (launching) {
		launching = NO;
		[NSApp stop:nil];
		rouse__app_nudge();
	}
	return YES;
}

#ifdef __APPLE__
static BOOL begin_to_listen(void)
{
	static id monitor;

	if (!monitor)
		monitor = [[NSEvent
		        addLocalMonitorForEventsMatchingMask:NSEventMaskApplicationDefined
		                                     handler:^NSEvent *(NSEvent *event) {
							     return take(event) ? nil : event;
		                                     }] retain];
	return monitor != nil;
}

typedef NSEvent event_class;
#else

#import <objc/runtime.h>

/* GNUstep's modal loops throw away what is not of their window. */
@interface RouseEvent : NSEvent
@end

@implementation RouseEvent
- (NSWindow *)window
{
	return [NSApp modalWindow];
}
@end

typedef RouseEvent event_class;

/* What NSApp was, a class of the program's perhaps. */
static Class application;

typedef void (*any_function)(void);
typedef void (*send_function)(id self, SEL name, id event);

static void send_event(id self, SEL name, id event)
{
	IMP above = class_getMethodImplementation(application, name);

	if (!take(event))
		((send_function)(any_function)above)(self, name, event);
}

static BOOL begin_to_listen(void)
{
	static Class ours;

	if (ours)
		return YES;
	application = object_getClass(NSApp);
	ours = objc_allocateClassPair(application, "RouseApplication", 0);
	if (!ours)
		return NO;
	class_addMethod(ours, @selector(sendEvent:), (IMP)(any_function)send_event, "v@:@");
	objc_registerClassPair(ours);
	object_setClass(NSApp, ours);
	return YES;
}
#endif

int rouse__app_post(short subtype, int64_t data1, int64_t data2)
{
	NSAutoreleasePool *pool;

	if ((NSInteger)data1 != data1 || (NSInteger)data2 != data2)
		return 0;
	pool = [NSAutoreleasePool new];
	[NSApp postEvent:[event_class otherEventWithType:NSEventTypeApplicationDefined
	                                        location:NSMakePoint(0, 0)
	                                   modifierFlags:0
	                                       timestamp:0
	                                    windowNumber:0
	                                         context:nil
	                                         subtype:subtype
	                                           data1:(NSInteger)data1
	                                           data2:(NSInteger)data2]
	         atStart:subtype == ROUSE__APP_NUDGE];
	[pool drain];
	return 1;
}

/* ---- The application --------------------------------------------------------------------- */

int rouse__app_begin(void)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	/* GNUstep leaves an NSApp behind that is of no use. */
	static BOOL lost;

	@try {
		lost = lost || [NSApplication sharedApplication] == nil || !begin_to_listen();
	} @catch (NSException *exception) {
		(void)exception;
		lost = YES;
	}
	[pool drain];
	return !lost;
}

void rouse__app_launch(void)
{
	launching = YES;
	rouse__app_nudge();
	[NSApp run];
}

void rouse__app_next_event(void)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	NSEvent *event = [NSApp nextEventMatchingMask:NSEventMaskAny
	                                    untilDate:[NSDate distantFuture]
	                                       inMode:NSDefaultRunLoopMode
	                                      dequeue:YES];

	if (event)
		[NSApp sendEvent:event];
	[NSApp updateWindows];
	[pool drain];
}

int rouse__app_runs(void)
{
	return [NSApp isRunning];
}

const void *rouse__app_modal(void)
{
	return [NSApp modalWindow];
}

void rouse__app_stop(void)
{
	[NSApp stop:nil];
}

void rouse__app_nudge(void)
{
	rouse__app_post(ROUSE__APP_NUDGE, 0, 0);
}
