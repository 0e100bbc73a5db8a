/* NSRunLoop as a host, in the mode and the way in which an application waits for events. */
#include "host/host.h"

#include <rouse/appkit.h>

#import <AppKit/AppKit.h>
#include <fcntl.h>
#include <unistd.h>

/* GNUstep looks at its connection to the X server before each wait, and after it. */
const struct host_kind host_kind = {
        .name = "AppKit", .nests = true, .adapter = true, .told = true, .looks = 2};
int host_result;
unsigned host_dones, host_busy_runs;

static rouse_appkit *attachment;

/* A descriptor that is always readable, watched for ever or once. */
@interface Zero : NSObject <RunLoopEvents> {
@public
	BOOL _once;
}
- (void)watch:(BOOL)on;
@end

static int zero(BOOL once)
{
	static int fds[2] = {-1, -1};

	if (fds[once] < 0)
		fds[once] = open("/dev/zero", O_RDONLY);
	return fds[once];
}

@implementation Zero
- (void)watch:(BOOL)on
{
	NSRunLoop *loop = [NSRunLoop currentRunLoop];
	void *fd = (void *)(intptr_t)zero(_once);

	[loop removeEvent:fd type:ET_RDESC forMode:NSDefaultRunLoopMode all:YES];
	if (on)
		[loop addEvent:fd type:ET_RDESC watcher:self forMode:NSDefaultRunLoopMode];
}

- (void)receivedEvent:(void *)data
                 type:(RunLoopEventType)type
                extra:(void *)extra
              forMode:(NSString *)mode
{
	(void)data, (void)type, (void)extra, (void)mode;
	if (_once)
		[self watch:NO];
	else
		host_busy_runs++;
}
@end

static Zero *busy, *once;

@interface Ticker : NSObject {
@public
	void (*_fn)(void *data);
	void *_data;
}
- (void)tick:(NSTimer *)timer;
@end

@implementation Ticker
- (void)tick:(NSTimer *)timer
{
	(void)timer;
	_fn(_data);
	/* A timer alone does not end the wait. */
	[once watch:YES];
}
@end

static NSTimer *ticking;

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
	[NSAutoreleasePool new];
	[NSApplication sharedApplication];
	busy = [Zero new];
	once = [Zero new];
	once->_once = YES;
}

void host_open(void)
{
	host_dones = 0;
}

void host_close(void)
{
	host_tick(NULL, NULL);
	host_busy(false);
	for (int i = 0; i < 10; i++)
		host_poll();
}

static void done(rouse_loop *loop, int result, void *data)
{
	(void)loop, (void)data;
	host_result = result;
	host_dones++;
}

int host_attach(rouse_loop *loop)
{
	const rouse_appkit_options options = {.size = sizeof options, .done = done};

	return rouse_appkit_attach(loop, &options, &attachment);
}

int host_detach(void)
{
	return rouse_appkit_detach(attachment);
}

/* nextEvent's way to wait. */
static void run_until(NSDate *date)
{
	[[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:date];
}

void host_turn(void)
{
	run_until([NSDate distantFuture]);
}

void host_poll(void)
{
	run_until([NSDate distantPast]);
}

void host_tick(void (*fn)(void *data), void *data)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];

	[ticking invalidate];
	[ticking release];
	ticking = nil;
	if (fn) {
		Ticker *ticker = [[Ticker new] autorelease];

		ticker->_fn = fn;
		ticker->_data = data;
		ticking = [[NSTimer scheduledTimerWithTimeInterval:0.001
		                                            target:ticker
		                                          selector:@selector(tick:)
		                                          userInfo:nil
		                                           repeats:YES] retain];
	}
	[pool drain];
}

void host_busy(bool on)
{
	host_busy_runs = 0;
	[busy watch:on];
}
