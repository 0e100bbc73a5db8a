/* A uv_run() that a worker thread posts lines to, and a timer of libuv's beside it. */
#include <rouse/uv.h>

#include <uv.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
	char text[24];
};

static void print_line(rouse_loop *loop, void *data)
{
	struct line *line = data;

	(void)loop;
	puts(line->text);
	free(line);
}

static void work(void *remote)
{
	for (int i = 1; i <= 5; i++) {
		struct line *line = malloc(sizeof *line);

		if (!line)
			break;
		snprintf(line->text, sizeof line->text, "line %d", i);
		if (rouse_post(remote, print_line, line, free) < 0)
			free(line); /* it is still ours */
		uv_sleep(10);
	}
	rouse_remote_stop(remote);
}

static void tick(uv_timer_t *timer)
{
	++*(unsigned *)timer->data;
}

/* The worker has stopped the loop; or something is wrong with it. */
static void done(rouse_loop *loop, int result, void *timer)
{
	(void)loop;
	if (result < 0)
		fprintf(stderr, "%s\n", rouse_strerror(result));
	uv_close(timer, NULL);
	uv_stop(uv_default_loop());
}

int main(void)
{
	uv_loop_t *uv = uv_default_loop();
	uv_timer_t timer;
	const rouse_uv_options options = {sizeof options, uv, done, &timer};
	unsigned ticks = 0;
	uv_thread_t worker;
	rouse_loop *loop;
	rouse_uv *attached;

	if (rouse_loop_create(NULL, &loop) < 0 || rouse_uv_attach(loop, &options, &attached) < 0)
		return 1;
	rouse_remote *remote = rouse_loop_remote(loop);
	timer = (uv_timer_t){.data = &ticks};
	if (uv_timer_init(uv, &timer) || uv_timer_start(&timer, tick, 5, 5) ||
	    uv_thread_create(&worker, work, remote))
		return 1;
	uv_run(uv, UV_RUN_DEFAULT);
	uv_thread_join(&worker);
	printf("and %u ticks\n", ticks);
	rouse_remote_unref(remote);
	rouse_uv_detach(attached);
	uv_run(uv, UV_RUN_DEFAULT); /* closes what is left */
	return uv_loop_close(uv) || rouse_loop_destroy(loop);
}
