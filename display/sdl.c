/*
 * SDL in a loop: window.h says when its pump, SDL_PumpEvents(), is called.
 *
 * SDL has a queue of its own between the pump and the program, to which any thread may push.  What
 * is in it is seen by a peek, which is no system call.  What is about to be pushed by another
 * thread is told by an event watch, which wakes the loop.  But SDL_PushEvent() calls its watches
 * first and queues then, so the loop may look in between.  Two counts tell:
 *   announced   events that the watch was called for
 *   taken       events that the loop has taken out of the queue
 * Is the queue empty, and are they the same, everything that was announced has come.  Else the loop
 * looks again a few times, each ten times as long after the last.  They may differ for ever: the
 * queue was full, SDL dropped a pending event for a newer one, a callback polled by itself.  So
 * they are made the same again whenever no other thread's push is open, and when the looks are used
 * up.
 *
 * User code runs under the pump (event filters and watches), event, after and lost, and any of them
 * may detach: what comes after such a call looks at `gone` first, and the struct lives until the
 * last frame that uses it has left.
 */
#include "window.h"

#include <rouse/sdl.h>

#include <SDL.h>
#include <SDL_syswm.h>
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* From the first look that came too early to the second; and to the last. */
#define FIRST_LOOK UINT64_C(100000)
#define LAST_LOOK UINT64_C(1000000000)

struct rouse_sdl {
	rouse_loop *loop;
	rouse_allocator allocator;
	rouse_sdl_options options;
	rouse_source hook;
	rouse_waker *waker;
	pthread_t thread;
	pid_t process;
	struct rouse__window window;
	atomic_uint_fast64_t told; /* what was announced, and above it how much by other threads */
	uint32_t taken;
	uint32_t settled; /* of what other threads announced */
	uint64_t open;    /* `told`, when these looks began */
	rouse_ns look;    /* the next one */
	rouse_ns gap;     /* before it */
	unsigned depth;   /* frames of ours that use this struct and that user code may be under */
	bool pump;        /* dispatch is to call it */
	bool gone;        /* detached; freed when depth is 0 */
};

static const void *attached;

static void leave(rouse_sdl *sdl)
{
	assert(sdl->depth > 0);
	if (--sdl->depth > 0 || !sdl->gone)
		return;
	rouse_waker_unref(sdl->waker);
	sdl->allocator.free(sdl, sizeof(*sdl), sdl->allocator.ctx);
}

/* ---- SDL's queue ------------------------------------------------------------- */

enum { FOREIGN = 32 }; /* in `told` */

/* On any thread, inside SDL_PushEvent(), and before the event is in the queue. */
static int SDLCALL announce(void *data, SDL_Event *event)
{
	rouse_sdl *sdl = data;

	/* Between a poll and the next, and never handed out. */
	if (event->type == SDL_POLLSENTINEL)
		return 0;
	if (pthread_equal(pthread_self(), sdl->thread)) {
		atomic_fetch_add(&sdl->told, 1);
		return 0;
	}
	atomic_fetch_add(&sdl->told, (UINT64_C(1) << FOREIGN) + 1);
	(void)rouse_wake(sdl->waker);
	return 0;
}

static bool holds_events(void)
{
	SDL_Event event;

	return SDL_PeepEvents(&event, 1, SDL_PEEKEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) > 0;
}

/* The queue was empty.  When to look again, because something that was announced may still come. */
static rouse_ns next_look(rouse_sdl *sdl)
{
	uint64_t told = atomic_load(&sdl->told);
	uint32_t announced = (uint32_t)told, foreign = (uint32_t)(told >> FOREIGN);
	bool open = foreign != sdl->settled && announced != sdl->taken;
	rouse_ns now = open ? rouse_loop_now(sdl->loop) : 0;

	if (open && told != sdl->open) {
		sdl->open = told;
		sdl->gap = FIRST_LOOK;
		sdl->look = now + sdl->gap;
	} else if (open && now >= sdl->look) {
		open = sdl->gap < LAST_LOOK;
		sdl->gap *= 10;
		sdl->look = now + sdl->gap;
	}
	if (open)
		return sdl->look;
	sdl->taken = announced;
	sdl->settled = foreign;
	return ROUSE_NEVER;
}

/* ---- The hook ------------------------------------------------------------------ */

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	rouse_sdl *sdl = data;

	/* Against the rules; what is left of its connection must not be looked at. */
	sdl->window.lost = sdl->window.lost || !SDL_WasInit(SDL_INIT_VIDEO);
	if (rouse__window_prepare(&sdl->window, loop, self, flags) || holds_events())
		return 0;
	rouse_ns look = next_look(sdl);
	return sdl->window.lost || look < sdl->window.due ? look : sdl->window.due;
}

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	rouse_sdl *sdl = data;

	(void)self;
	sdl->pump = rouse__window_check(&sdl->window, loop, ready);
	return sdl->pump || holds_events();
}

/* What the connection has to say: the pump, or that it is lost. */
static bool serve_window(rouse_sdl *sdl)
{
	const rouse_sdl_options *to = &sdl->options;

	if (!sdl->pump)
		return false;
	sdl->pump = false;
	if (!sdl->window.lost) {
		rouse__window_pumps(&sdl->window, sdl->loop);
		SDL_PumpEvents();
		return true;
	}
	sdl->window.lost_told = true;
	if (to->lost)
		to->lost(sdl->loop, sdl, to->data);
	return true;
}

static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	rouse_sdl *sdl = data;
	const rouse_sdl_options *to = &sdl->options;
	SDL_Event event;

	(void)self;
	sdl->depth++;
	bool served = serve_window(sdl);
	unsigned handled = 0;
	while (handled < budget && !sdl->gone &&
	       SDL_PeepEvents(&event, 1, SDL_GETEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) > 0) {
		sdl->taken++;
		handled++;
		if (to->event)
			to->event(loop, sdl, &event, to->data);
	}
	bool pumped = served && !sdl->window.lost;
	if ((pumped || handled > 0) && !sdl->gone && to->after && !holds_events())
		to->after(loop, sdl, to->data);
	leave(sdl);
	/* A pump is none of the budget: else it could be all of it. */
	return handled > 0 ? (int)handled : served;
}

/* ---- Attach and detach --------------------------------------------------------- */

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_sdl *sdl = data;

	(void)loop;
	sdl->depth++;
	sdl->gone = true;
	if (getpid() == sdl->process)
		/* When this returns, no thread is inside the watch. */
		SDL_DelEventWatch(announce, sdl);
	else
		/* A forked child, where a thread that is not there may have SDL's mutex for ever.
		 * The watch stays, and what it looks at. */
		sdl->depth++;
	rouse__window_let_go(&sdl->window);
	rouse__window_delist(&attached, sdl);
	leave(sdl);
}

/* ROUSE_EINVAL, ROUSE_ENOTSUP, ROUSE_ELOST, or 0. */
static int find_connection(SDL_Window *of, struct rouse__window *window)
{
	SDL_SysWMinfo info;

	if (!of || !SDL_WasInit(SDL_INIT_VIDEO) || !SDL_GetWindowID(of))
		return ROUSE_EINVAL;
	SDL_VERSION(&info.version);
	if (!SDL_GetWindowWMInfo(of, &info))
		return ROUSE_ENOTSUP;
#ifdef SDL_VIDEO_DRIVER_X11
	if (info.subsystem == SDL_SYSWM_X11)
		window->x11 = info.info.x11.display;
#endif
#ifdef SDL_VIDEO_DRIVER_WAYLAND
	if (info.subsystem == SDL_SYSWM_WAYLAND)
		window->wayland = info.info.wl.display;
#endif
	if (!window->x11 && !window->wayland)
		return ROUSE_ENOTSUP;
	return rouse__window_init(window);
}

static int join(rouse_sdl *sdl)
{
	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = rouse__window_fd(&sdl->window),
	                         .events = ROUSE_READABLE,
	                         .prepare = prepare,
	                         .check = check,
	                         .dispatch = dispatch,
	                         .release = release};
	int result = rouse_waker_create(sdl->loop, NULL, NULL, &sdl->waker);

	if (result < 0)
		return result;
	result = rouse_hook_add(sdl->loop, &hook, sdl, &sdl->hook);
	if (result < 0)
		rouse_waker_unref(sdl->waker);
	return result;
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_sdl_options, lost) + sizeof(((rouse_sdl_options *)0)->lost))

int rouse_sdl_attach(rouse_loop *loop, const rouse_sdl_options *options, rouse_sdl **ret_sdl)
{
	rouse_sdl_options copy;

	if (!loop || !options || !ret_sdl)
		return ROUSE_EINVAL;
	struct rouse__window window = {0};
	int result =
	        rouse__display_options(&copy, sizeof(copy), LEAST_OPTIONS, options, options->size);
	if (result == 0)
		result = rouse__display_thread(loop);
	if (result == 0)
		result = find_connection(copy.window, &window);
	if (result < 0)
		return result;
	window.period = copy.period;

	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	rouse_sdl *sdl = allocator->alloc(sizeof(*sdl), allocator->ctx);
	if (!sdl)
		return ROUSE_ENOMEM;
	*sdl = (rouse_sdl){.loop = loop,
	                   .allocator = *allocator,
	                   .options = copy,
	                   .thread = pthread_self(),
	                   .process = getpid(),
	                   .window = window};
	atomic_init(&sdl->told, 0);
	result = join(sdl);
	if (result < 0) {
		allocator->free(sdl, sizeof(*sdl), allocator->ctx);
		return result;
	}
	result = rouse__window_enlist(&attached, sdl);
	if (result < 0) {
		rouse_remove(loop, sdl->hook);
		return result;
	}
	SDL_AddEventWatch(announce, sdl);
	*ret_sdl = sdl;
	return 0;
}

int rouse_sdl_detach(rouse_sdl *sdl)
{
	return sdl ? rouse_remove(sdl->loop, sdl->hook) : 0;
}
