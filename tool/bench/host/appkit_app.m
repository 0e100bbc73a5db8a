#include "bench/host/appkit_app.h"

#import <AppKit/AppKit.h>
#import <GNUstepGUI/GSDisplayServer.h>

#include <stdint.h>
#include <stdio.h>

enum { WIDTH = 320, HEIGHT = 200 };

void app_begin(void)
{
	static char name[] = "rouse";
	char *arguments[] = {name, NULL};
	extern char **environ;

	NSAutoreleasePool *pool;

	[NSProcessInfo initializeWithArguments:arguments count:1 environment:environ];
	pool = [NSAutoreleasePool new];
	/* Else other windows are tried out, and complained about, where there is no window manager. */
	[[NSUserDefaults standardUserDefaults]
	        registerDefaults:[NSDictionary dictionaryWithObjectsAndKeys:
	                                               @"NO", @"GSX11HandlesWindowDecorations",
	                                               @"YES", @"GSSuppressAppIcon", nil]];
	[pool drain];
}

void app_version(char *text, size_t size)
{
	snprintf(text, size, "GNUstep %d.%d.%d", GNUSTEP_GUI_MAJOR_VERSION,
	         GNUSTEP_GUI_MINOR_VERSION, GNUSTEP_GUI_SUBMINOR_VERSION);
}

void app_turn(rouse_ns until)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	rouse_ns now = rouse_now();
	double wait = until > now ? (double)(until - now) / 1e9 : 0;
	NSEvent *event = [NSApp nextEventMatchingMask:NSAnyEventMask
	                                    untilDate:[NSDate dateWithTimeIntervalSinceNow:wait]
	                                       inMode:NSDefaultRunLoopMode
	                                      dequeue:YES];

	if (event)
		[NSApp sendEvent:event];
	[NSApp updateWindows];
	[pool drain];
}

/* ---- The window ------------------------------------------------------------------------ */

@interface BenchView : NSView {
@public
	void (*_drawn)(void *data);
	void *_data;
	unsigned _draws;
}
@end

@implementation BenchView
- (void)drawRect:(NSRect)dirty
{
	unsigned step = _draws++ % 16;

	(void)dirty;
	[[NSColor blackColor] set];
	NSRectFill(NSMakeRect(step * WIDTH / 16, HEIGHT / 4, WIDTH / 16, HEIGHT / 2));
	_drawn(_data);
}
@end

struct app_window *app_window_open(void (*drawn)(void *data), void *data)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	NSRect frame = NSMakeRect(0, 0, WIDTH, HEIGHT);
	BenchView *view = [[BenchView alloc] initWithFrame:frame];
	NSWindow *window = [[NSWindow alloc] initWithContentRect:frame
	                                               styleMask:NSTitledWindowMask
	                                                 backing:NSBackingStoreBuffered
	                                                   defer:NO];

	view->_drawn = drawn;
	view->_data = data;
	[window setReleasedWhenClosed:NO];
	[window setTitle:@"rouse bench"];
	[window setContentView:view];
	[view release];
	[window orderFrontRegardless];
	[pool drain];
	return (struct app_window *)window;
}

void app_window_dirty(struct app_window *window)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];

	[[(NSWindow *)window contentView] setNeedsDisplay:YES];
	[pool drain];
}

void app_window_close(struct app_window *of)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	NSWindow *window = (NSWindow *)of;

	[window close];
	[window release];
	[pool drain];
}

void *app_display(void)
{
	return [GSCurrentServer() serverDevice];
}

/* ---- Calls ----------------------------------------------------------------------------- */

@interface BenchTarget : NSObject {
@public
	void (*_fn)(void *data); /* NULL: closed. */
}
@end

@implementation BenchTarget
- (void)perform:(NSValue *)data
{
	if (_fn)
		_fn([data pointerValue]);
}
@end

struct app_target *app_target_open(void (*fn)(void *data))
{
	BenchTarget *target = [BenchTarget new];

	target->_fn = fn;
	return (struct app_target *)target;
}

void app_target_perform(struct app_target *target, void *data)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];

	[(BenchTarget *)target performSelectorOnMainThread:@selector(perform:)
	                                        withObject:[NSValue valueWithPointer:data]
	                                     waitUntilDone:NO];
	[pool drain];
}

void app_target_close(struct app_target *of)
{
	BenchTarget *target = (BenchTarget *)of;

	target->_fn = NULL;
	[target release];
}

/* ---- Descriptors ----------------------------------------------------------------------- */

@interface BenchWatch : NSObject <RunLoopEvents> {
@public
	int _fd;
	void (*_fn)(void *data);
	void *_data;
}
@end

@implementation BenchWatch
- (void)receivedEvent:(void *)event
                 type:(RunLoopEventType)type
                extra:(void *)extra
              forMode:(NSString *)mode
{
	(void)event, (void)type, (void)extra, (void)mode;
	_fn(_data);
}
@end

struct app_watch *app_watch_open(int fd, void (*fn)(void *data), void *data)
{
	BenchWatch *watch = [BenchWatch new];

	watch->_fd = fd;
	watch->_fn = fn;
	watch->_data = data;
	[[NSRunLoop currentRunLoop] addEvent:(void *)(intptr_t)fd
	                                type:ET_RDESC
	                             watcher:watch
	                             forMode:NSDefaultRunLoopMode];
	return (struct app_watch *)watch;
}

void app_watch_close(struct app_watch *of)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	BenchWatch *watch = (BenchWatch *)of;

	[[NSRunLoop currentRunLoop] removeEvent:(void *)(intptr_t)watch->_fd
	                                   type:ET_RDESC
	                                forMode:NSDefaultRunLoopMode
	                                    all:YES];
	[watch release];
	[pool drain];
}
