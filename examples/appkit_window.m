/* A window in [NSApp run], with a label that a worker thread changes ten times a second.  The worker
 * closes it after a second.  -modal YES: and a panel is open all the while. */
#include <rouse/appkit.h>

#import <AppKit/AppKit.h>
#include <pthread.h>
#include <unistd.h>

static NSTextField *label;
static rouse_appkit *appkit;

/* On the main thread, with an autorelease pool around it. */
static void show(rouse_loop *loop, void *count)
{
	(void)loop;
	[label setStringValue:[NSString stringWithFormat:@"%ld", (long)count]];
}

static void *work(void *remote)
{
	for (intptr_t i = 1; i <= 10; i++) {
		if (rouse_post(remote, show, (void *)i, NULL) < 0)
			break;
		usleep(100000);
	}
	rouse_appkit_stop(appkit);
	return NULL;
}

static NSWindow *open_window(NSString *title, CGFloat x)
{
	NSWindow *window =
	        [[NSWindow alloc] initWithContentRect:NSMakeRect(x, 100, 200, 100)
	                                    styleMask:NSWindowStyleMaskTitled | NSWindowStyleMaskClosable
	                                      backing:NSBackingStoreBuffered
	                                        defer:NO];

	[window setTitle:title];
	[window makeKeyAndOrderFront:nil];
	return window;
}

static void open_panel(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	[NSApp runModalForWindow:open_window(@"modal", 400)];
}

int main(void)
{
	NSAutoreleasePool *pool = [NSAutoreleasePool new];
	rouse_loop *loop;
	pthread_t worker;

	if (rouse_loop_create(NULL, &loop) < 0 || rouse_appkit_attach(loop, NULL, &appkit) < 0)
		return 1;
	rouse_remote *remote = rouse_loop_remote(loop);
	label = [[NSTextField alloc] initWithFrame:NSMakeRect(20, 20, 160, 24)];
	[[open_window(@"rouse", 100) contentView] addSubview:label];
	if ([[NSUserDefaults standardUserDefaults] boolForKey:@"modal"] &&
	    rouse_post(remote, open_panel, NULL, NULL) < 0)
		return 1;
	if (pthread_create(&worker, NULL, work, remote))
		return 1;
	[NSApp run];
	pthread_join(worker, NULL);
	NSLog(@"%@", [label stringValue]);
	rouse_remote_unref(remote);
	[pool drain];
	return rouse_loop_destroy(loop);
}
