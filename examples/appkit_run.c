/* An application in plain C, which a worker thread sends events and lines, until it stops it. */
#include <rouse/appkit.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

struct work {
	rouse_appkit *appkit;
	rouse_remote *remote;
};

static void print_line(rouse_loop *loop, void *line)
{
	(void)loop;
	puts(line);
}

/* An NSEvent has had its turn. */
static void on_event(rouse_loop *loop, int64_t data1, int64_t data2, void *data)
{
	(void)loop, (void)data;
	printf("event %" PRId64 ", %" PRId64 "\n", data1, data2);
}

static void on_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *ticks)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)ticks;
}

static void *work(void *data)
{
	const struct work *work = data;

	for (int i = 1; i <= 3; i++) {
		if (rouse_post(work->remote, print_line, "a line", NULL) < 0 ||
		    rouse_appkit_post(work->appkit, i, INT64_MAX) < 0)
			break;
	}
	/* After all of them. */
	if (rouse_post(work->remote, print_line, "and the last one", NULL) >= 0)
		rouse_appkit_stop(work->appkit);
	return NULL;
}

int main(void)
{
	const rouse_appkit_options options = {.size = sizeof options, .event = on_event};
	struct work given;
	unsigned ticks = 0;
	pthread_t worker;
	rouse_loop *loop;
	int error;

	if (rouse_loop_create(NULL, &loop) < 0)
		return 1;
	error = rouse_appkit_attach(loop, &options, &given.appkit);
	if (error < 0) {
		fprintf(stderr, "%s\n", rouse_strerror(error));
		return error == ROUSE_ELOST ? 77 : 1;
	}
	given.remote = rouse_loop_remote(loop);
	if (rouse_timer_add(loop, rouse_now(), 1000000, 0, on_timer, &ticks, NULL) < 0 ||
	    pthread_create(&worker, NULL, work, &given))
		return 1;
	error = rouse_appkit_run(given.appkit);
	pthread_join(worker, NULL);
	printf("and %s\n", ticks ? "ticks" : "no tick");
	rouse_remote_unref(given.remote);
	return error || rouse_loop_destroy(loop);
}
