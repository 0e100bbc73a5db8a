/*
 * A carrier by Apple's CFRunLoop.
 *
 * A CFFileDescriptor watches the descriptor.  It disarms itself as it calls out, so it is armed
 * again before anything else is done: a callback of the loop's may run the run loop in a nested
 * way, and what comes in there must end that one's wait.  As the descriptor is mostly readable
 * still then, one more call follows each, which finds nothing, sees so by one look, and leaves.
 *
 * An observer prepares the loop before each wait of the run loop, after all other observers, and
 * then looks at the descriptor once more.  If it is readable, or if `ready` is asked for, a source
 * of ours is signalled, and the run loop woken: so what there is before a wait is served without
 * regard to when the system hands on what it has seen of the descriptor, also in a run loop nested
 * in the descriptor's own call.  What comes after that look finds the descriptor armed.
 *
 * There is no CFRunLoopTimer: the deadline is the descriptor's, too.  (Apple's timers do not nest,
 * so none could dispatch anything.)
 *
 * All three are in the same modes, in the common ones unless it is said.  Everything is the
 * thread's of the run loop, so plain counts do: a carrier that is closed inside a call of its own
 * is freed as that returns.
 */
#include "carrier.h"

#include <CoreFoundation/CoreFoundation.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct rouse__carrier {
	struct rouse__carried carried;
	int fd;
	unsigned refs; /* the owner's, and one of each call that is under way */
	bool wanted;   /* `ready`, whether the descriptor is readable or not */
	bool closed;
	CFRunLoopRef loop;
	CFFileDescriptorRef descriptor;
	CFRunLoopSourceRef source; /* the descriptor's */
	CFRunLoopSourceRef again;
	CFRunLoopObserverRef observer;
};

static void release_all(struct rouse__carrier *carrier)
{
	const void *const objects[] = {carrier->observer, carrier->again, carrier->source,
	                               carrier->descriptor, carrier->loop};

	for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
		if (objects[i])
			CFRelease(objects[i]);
	}
}

static void unref(struct rouse__carrier *carrier)
{
	if (--carrier->refs)
		return;
	release_all(carrier);
	free(carrier);
}

/* ---- What the run loop calls ------------------------------------------------------------ */

static bool is_readable(const struct rouse__carrier *carrier)
{
	struct pollfd look = {.fd = carrier->fd, .events = POLLIN};

	return poll(&look, 1, 0) > 0;
}

static void serve(struct rouse__carrier *carrier)
{
	carrier->refs++;
	if (!carrier->closed && (carrier->wanted || is_readable(carrier))) {
		carrier->wanted = false;
		carrier->carried.ready(carrier->carried.data);
	}
	unref(carrier);
}

static void on_descriptor(CFFileDescriptorRef descriptor, CFOptionFlags flags, void *info)
{
	(void)flags;
	CFFileDescriptorEnableCallBacks(descriptor, kCFFileDescriptorReadCallBack);
	serve(info);
}

static void on_again(void *info)
{
	serve(info);
}

static void on_before_wait(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info)
{
	struct rouse__carrier *carrier = info;

	(void)observer, (void)activity;
	carrier->refs++;
	if (carrier->carried.before_wait(carrier->carried.data))
		carrier->wanted = true;
	if (!carrier->closed && (carrier->wanted || is_readable(carrier))) {
		CFRunLoopSourceSignal(carrier->again);
		CFRunLoopWakeUp(carrier->loop);
	}
	unref(carrier);
}

/* ---- Modes -------------------------------------------------------------------------------- */

/* AppKit's names of these two are not what they are called, and CFRunLoop knows the common modes
 * by the object and not by its text.  All others are called what they are named. */
static CFStringRef mode_of(const char *name)
{
	if (!strcmp(name, "NSDefaultRunLoopMode") || !strcmp(name, "kCFRunLoopDefaultMode"))
		return (CFStringRef)CFRetain(kCFRunLoopDefaultMode);
	if (!strcmp(name, "NSRunLoopCommonModes") || !strcmp(name, "kCFRunLoopCommonModes"))
		return (CFStringRef)CFRetain(kCFRunLoopCommonModes);
	return CFStringCreateWithCString(kCFAllocatorDefault, name, kCFStringEncodingUTF8);
}

static bool join(const struct rouse__carrier *carrier, const char *name)
{
	CFStringRef mode = mode_of(name);

	if (!mode)
		return false;
	CFRunLoopAddSource(carrier->loop, carrier->source, mode);
	CFRunLoopAddSource(carrier->loop, carrier->again, mode);
	CFRunLoopAddObserver(carrier->loop, carrier->observer, mode);
	CFRelease(mode);
	return true;
}

static bool join_all(const struct rouse__carrier *carrier, const char *const *modes)
{
	static const char *const usual[] = {"NSRunLoopCommonModes", NULL};

	for (modes = modes ? modes : usual; *modes; modes++) {
		if (!join(carrier, *modes))
			return false;
	}
	return true;
}

/* ---- Open and close ----------------------------------------------------------------------- */

static bool make_objects(struct rouse__carrier *carrier)
{
	const CFFileDescriptorContext of_descriptor = {.info = carrier};
	CFRunLoopSourceContext of_again = {.info = carrier, .perform = on_again};
	CFRunLoopObserverContext of_observer = {.info = carrier};

	carrier->loop = (CFRunLoopRef)CFRetain(CFRunLoopGetCurrent());
	carrier->descriptor = CFFileDescriptorCreate(kCFAllocatorDefault, carrier->fd, false,
	                                             on_descriptor, &of_descriptor);
	if (!carrier->descriptor)
		return false;
	carrier->source =
	        CFFileDescriptorCreateRunLoopSource(kCFAllocatorDefault, carrier->descriptor, 0);
	carrier->again = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &of_again);
	carrier->observer = CFRunLoopObserverCreate(kCFAllocatorDefault, kCFRunLoopBeforeWaiting,
	                                            true, LONG_MAX, on_before_wait, &of_observer);
	return carrier->source && carrier->again && carrier->observer;
}

struct rouse__carrier *rouse__carrier_open(int fd, const char *const *modes,
                                           const struct rouse__carried *carried)
{
	struct rouse__carrier *carrier = calloc(1, sizeof *carrier);

	if (!carrier)
		return NULL;
	carrier->carried = *carried;
	carrier->fd = fd;
	carrier->refs = 1;
	if (!make_objects(carrier) || !join_all(carrier, modes)) {
		rouse__carrier_close(carrier);
		return NULL;
	}
	CFFileDescriptorEnableCallBacks(carrier->descriptor, kCFFileDescriptorReadCallBack);
	return carrier;
}

void rouse__carrier_close(struct rouse__carrier *carrier)
{
	carrier->closed = true;
	if (carrier->observer)
		CFRunLoopObserverInvalidate(carrier->observer);
	if (carrier->again)
		CFRunLoopSourceInvalidate(carrier->again);
	if (carrier->source)
		CFRunLoopSourceInvalidate(carrier->source);
	if (carrier->descriptor)
		CFFileDescriptorInvalidate(carrier->descriptor);
	unref(carrier);
}
