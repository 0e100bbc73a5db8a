#include "known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <rouse/null.h>

void known_open(struct run *run, const struct mech_ops *ops, size_t cap)
{
	static const struct options options = {.seconds = 30, .rate = 10, .fd_rate = 7};
	rouse_loop_options loop = {.size = sizeof loop, .poller = "null"};
	*run = (struct run){.kind = &loop_kinds[LOOP_EPOLL],
	                    .options = &options,
	                    .ticks = {.hz = 7, .n = 210, .missed = 2}};
	assert_int_equal(rouse_loop_create(&loop, &run->loop), 0);
	assert_int_equal(events_open(&run->events, 16), 0);
	known_join(run, ops, cap);
}

void known_join(struct run *run, const struct mech_ops *ops, size_t cap)
{
	struct mech *m = &run->mech[run->mechs++];

	*m = (struct mech){.ops = ops, .loop = run->loop, .turns = &run->turns, .fd = {-1, -1}};
	assert_int_equal(meter_open(&m->meter, cap), 0);
	assert_int_equal(ops->open(m), 0);
}

void known_close(struct run *run)
{
	for (size_t i = run->mechs; i-- > 0;)
		run->mech[i].ops->close(&run->mech[i]);
	assert_int_equal(rouse_loop_destroy(run->loop), 0);
	run->loop = NULL;
}

void known_fire(struct run *run)
{
	mech_fire(&run->mech[0], rouse_loop_now(run->loop));
}

void known_pass(struct run *run, rouse_ns ns)
{
	assert_int_equal(rouse_null_advance(run->loop, ns), 0);
}

int known_serve(struct run *run)
{
	int fd = run->mech[0].fd[0], ran;

	if (fd >= 0)
		assert_int_equal(rouse_null_script(run->loop, 0, fd, ROUSE_READABLE), 0);
	ran = rouse_loop_turn(run->loop, 0);
	assert_true(ran >= 0);
	if (fd >= 0)
		assert_int_equal(rouse_null_script(run->loop, 0, fd, 0), 0);
	return ran;
}
