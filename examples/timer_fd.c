/* A timer writes into a pipe; the loop also watches the pipe's other end. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <rouse/rouse.h>

#define MILLISECONDS(n) ((rouse_ns)(n)*1000000)

struct app {
	int pipe[2];
	int ticks;
	int bytes;
};

static void tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct app *app = data;
	char byte = (char)('a' + app->ticks);

	(void)deadline;
	if (write(app->pipe[1], &byte, 1) != 1)
		rouse_loop_stop(loop);
	if (++app->ticks == 5)
		rouse_remove(loop, self);
}

static void readable(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct app *app = data;
	char buffer[16];
	ssize_t n = read(fd, buffer, sizeof buffer);

	(void)self;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return; /* readiness may be stale; we will be called again */
	if (n <= 0) {
		fprintf(stderr, "end of the pipe, events %#x\n", events);
		rouse_loop_stop(loop);
		return;
	}
	printf("read %.*s\n", (int)n, buffer);
	app->bytes += (int)n;
	if (app->bytes == 5)
		rouse_loop_stop(loop);
}

int main(void)
{
	struct app app = {.pipe = {-1, -1}};
	rouse_loop *loop;
	int error;

	if (pipe(app.pipe) != 0 || rouse_loop_create(NULL, &loop) < 0)
		return 1;
	/* Every 20 ms, first in 20 ms.  Neither source is named: both live as long as the loop,
	 * or until the callback removes itself. */
	error = rouse_timer_add(loop, rouse_loop_now(loop) + MILLISECONDS(20), MILLISECONDS(20), 0,
	                        tick, &app, NULL);
	if (error == 0)
		error = rouse_fd_add(loop, app.pipe[0], ROUSE_READABLE, readable, &app, NULL);
	if (error == 0)
		error = rouse_loop_run(loop);
	if (error < 0)
		fprintf(stderr, "%s\n", rouse_strerror(error));
	rouse_loop_destroy(loop);
	close(app.pipe[0]);
	close(app.pipe[1]);
	return error == 0 && app.bytes == 5 ? 0 : 1;
}
