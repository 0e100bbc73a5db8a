/*
 * The soak: two loops under a steady mixed load, with everything sent and served counted.
 *
 * A site is a loop on a thread of its own; a lane is what one producer thread sends to one
 * site.  Whatever is sent goes down a flow, which numbers it; serving it moves the flow's other
 * end.  A flow's ends meet once nothing is under way, and what was sent is served within
 * SOAK_PATIENCE seconds: that is what "nothing lost" means here.
 *
 *   soak.c       the threads, the end, the table
 *   soak_site.c  a loop's life
 *   soak_serve.c what runs on its thread: callbacks, timers, sources that come and go
 *   soak_load.c  the producers: paced, and now and then one thing at a time
 *   soak_watch.c memory, descriptors, processor time, stalls: looked at every second
 */
#ifndef TESTS_STRESS_SOAK_H
#define TESTS_STRESS_SOAK_H

#include <rouse/rouse.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SOAK_RATE = 10000,   /* operations a second, of all producers on all sites */
	SOAK_PATIENCE = 10,  /* seconds until what was not served is lost */
	SOAK_LULL = 10,      /* seconds between two lulls */
	SOAK_PREFILL = 8192, /* posts under way at once before the count of memory begins */
	SOAK_SITES = 2,      /* one loop waits by itself, one is a guest */
	SOAK_LANES = 2,      /* producers */
	SOAK_OWN = 2,        /* wakers of a lane alone, woken when the last wake was answered */
	SOAK_SHARED = 3,     /* wakers of all lanes of a site */
	SOAK_TASKS = 64,     /* of a lane */
	SOAK_ONE_SHOTS = 32, /* timers of a site that fire once a time */
	SOAK_PERIODIC = 4
};

struct soak_flow {
	_Atomic uint64_t sent, served;
	uint64_t mark; /* the watch's: what was sent when it last came by */
};

/* What a lane sends.  Posts, tasks and calls share one flow: they run in order. */
enum {
	FLOW_POSTS,
	FLOW_BYTES,
	FLOW_EVENTS,
	FLOW_SIGNALS,
	FLOW_OWN,
	FLOW_SHARED = FLOW_OWN + SOAK_OWN,
	FLOW_LANE = FLOW_SHARED + SOAK_SHARED
};

struct soak_site;
struct soak_lane;

struct soak_task {
	rouse_task task;
	struct soak_lane *lane;
	uint64_t number;
	atomic_int queued;
};

struct soak_bell {
	rouse_waker *waker;
	struct soak_site *site;
	unsigned which;         /* of the shared ones */
	struct soak_flow *flow; /* NULL: shared, and every lane has a flow for it */
};

struct soak_lane {
	struct soak_site *site;
	unsigned index;
	struct soak_flow flows[FLOW_LANE];
	_Atomic uint64_t tasks, calls,
	        skipped; /* of the posts; wakes not sent, one was under way */
	struct soak_bell own[SOAK_OWN];
	struct soak_task pool[SOAK_TASKS];
	int pipe[2], event;
	unsigned char next_out, next_in; /* the pipe's bytes are numbered */
	rouse_source pipe_source;
};

struct soak_timer {
	struct soak_site *site;
	rouse_source source;
	rouse_ns period, due; /* ROUSE_NEVER: not armed */
};

/* What the watch may know of a site, as of its last beat. */
struct soak_sample {
	uint64_t bytes, blocks, extra; /* allocated now; not asked for by an add of ours */
};

struct soak_memory {
	rouse_allocator allocator;
	_Atomic uint64_t made, blocks, bytes, wrong;
};

struct soak_site {
	const char *name, *poller;
	int guest;
	rouse_loop *loop;
	rouse_remote *remote;
	pthread_t thread;
	struct soak_memory memory;
	struct soak_lane lanes[SOAK_LANES];
	struct soak_bell shared[SOAK_SHARED];
	struct soak_timer one_shots[SOAK_ONE_SHOTS], periodic[SOAK_PERIODIC], beat;
	struct soak_flow armed;   /* one shots: armed against fired or cancelled */
	struct soak_flow periods; /* elapsed against fired or skipped */
	struct soak_flow churned; /* sources that came and went against those that were called */
	_Atomic uint64_t fired, cancelled, skipped;
	uint64_t skipped_seen; /* of the loop's own count */
	uint64_t adds;         /* allocations that the beat asked for */
	int signo;             /* 0: none */
	rouse_source signal_source;
	uint64_t random;
	int resting;               /* no timers: a lull */
	struct soak_sample sample; /* under the lock */
	pthread_mutex_t lock;
	double cpu; /* at its end */
	rouse_stats stats;

	/* What the last beat added, for the next one to remove. */
	rouse_source churn_timer, churn_fd;
	int churn_pair[2];
	rouse_waker *churn_waker;
	int timer_called, fd_called, waker_called, churning;
	unsigned beats;
};

struct soak {
	struct soak_site sites[SOAK_SITES];
	double seconds;
	uint64_t seed, begun;
	pthread_t producers[SOAK_LANES];
	atomic_int stop;   /* producers: finish what you are at */
	atomic_int lull;   /* all but the first producer wait */
	atomic_int parked; /* how many do */
	_Atomic uint64_t lulls;
};

extern struct soak soak;

/* Prints, with where everything stands, and ends the process with 1. */
_Noreturn void soak_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define SOAK_CHECK(condition, ...) ((condition) ? (void)0 : soak_fail(__VA_ARGS__))

/* One writer each, read from anywhere. */
void soak_bump(_Atomic uint64_t *counter, uint64_t by);
uint64_t soak_get(const _Atomic uint64_t *counter);
uint64_t soak_random(uint64_t *state);
/* Fails where the thread does not end in several times the patience. */
void soak_join(pthread_t thread, const char *what);
void soak_pause(uint64_t ns);

/* soak_site.c, soak_serve.c */
void soak_site_open(struct soak_site *site);
void soak_site_start(struct soak_site *site);
void soak_site_close(struct soak_site *site); /* joins its thread */
/* Posted by a lane, in its order. */
enum soak_errand { ERRAND_NONE, ERRAND_ARM, ERRAND_CANCEL, ERRAND_REST, ERRAND_WORK };
void *soak_ticket(const struct soak_lane *lane, uint64_t number);
rouse_post_fn soak_errand_fn(enum soak_errand errand);
void soak_task_run(rouse_loop *loop, rouse_task *task);

/* soak_load.c */
void *soak_produce(void *lane_index);

/* soak_watch.c */
void soak_watch(void);       /* for soak.seconds */
void soak_settle(void);      /* until all flows have met */
int soak_watch_report(void); /* 1 if something grew */
unsigned soak_descriptors(void);
double soak_cpu(void);
double soak_elapsed(void);
uint64_t soak_operations(void), soak_served(void);
void soak_each_flow(void (*fn)(const char *site, const char *lane, const char *name,
                               struct soak_flow *flow, void *data),
                    void *data);

#endif
