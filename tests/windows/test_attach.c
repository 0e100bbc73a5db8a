/* Attaching and detaching: twice, in callbacks, without memory. */
#include "subject.h"

#include <stdlib.h>

static void attach_refuses_what_is_attached(void **state)
{
	struct subject s = {0};
	rouse_loop *loop;
	void *attached = NULL;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	assert_int_equal(subject_attach(&s, s.loop, &attached), ROUSE_EEXIST);
	assert_int_equal(subject_attach(&s, loop, &attached), ROUSE_EEXIST);
	assert_null(attached);
	/* The first is unharmed. */
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	/* And free for another loop when it is detached. */
	assert_int_equal(subject_detach(s.attached), 0);
	assert_int_equal(subject_attach(&s, loop, &attached), 0);
	assert_int_equal(subject_detach(attached), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	s.attached = NULL;
	subject_close(&s);
}

static void destroyed_loop_releases_it(void **state)
{
	struct subject s = {0};
	rouse_loop *first;

	(void)state;
	subject_open(&s, NULL);
	first = s.loop;
	assert_int_equal(rouse_loop_create(NULL, &s.loop), 0);
	assert_int_equal(rouse_loop_destroy(first), 0);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	subject_close(&s);
}

/* ---- In callbacks --------------------------------------------------------------- */

static void detach(struct subject *s)
{
	void *attached = s->attached;

	assert_int_equal(subject_detach(attached), 0);
	s->attached = NULL;
	/* The name is good until this callback returns. */
	assert_int_equal(subject_detach(attached), ROUSE_ESTALE);
	s->on_event = s->on_after = NULL;
}

static void nothing_more(struct subject *s)
{
	unsigned after = s->after;

	subject_send(s, 1);
	fixture_settle(s->loop);
	assert_int_equal(s->after, after);
	assert_null(s->attached);
	/* And the loop does not sleep on the other one's leftovers, nor spin. */
	assert_int_equal(rouse_loop_turn(s->loop, 0), 0);
	subject_close(s);
}

static void l3_detach_in_an_event(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	s.on_event = detach;
	subject_send(&s, 3);
	fixture_until(s.loop, &s.events, 1);
	/* What the library's pump had begun it finishes; `after` is ours. */
	assert_int_equal(s.events, subject_has_budget ? 1 : 3);
	assert_int_equal(s.after, 0);
	nothing_more(&s);
}

static void l3_detach_in_after(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	s.on_after = detach;
	subject_send(&s, 1);
	fixture_until(s.loop, &s.after, 1);
	nothing_more(&s);
}

static void detach_and_quit(rouse_loop *loop, void *data)
{
	struct subject *s = data;

	(void)loop;
	assert_int_equal(subject_detach(s->attached), 0);
	s->attached = NULL;
	subject_quit(s);
}

/* Its event was reported in the same turn. */
static void l4_detach_and_quit_in_a_post(void **state)
{
	struct subject s = {0};
	rouse_remote *remote;

	(void)state;
	subject_open(&s, NULL);
	remote = rouse_loop_remote(s.loop);
	subject_send(&s, 1);
	assert_int_equal(rouse_post(remote, detach_and_quit, &s, NULL), 0);
	fixture_prompt_turn(s.loop);
	fixture_settle(s.loop);
	assert_int_equal(s.events, 0);
	assert_false(s.display || s.wayland);
	rouse_remote_unref(remote);
	subject_close(&s);
}

static void reattach(struct subject *s)
{
	s->on_event = NULL;
	assert_int_equal(subject_detach(s->attached), 0);
	s->attached = NULL;
	assert_int_equal(subject_attach(s, s->loop, &s->attached), 0);
}

static void l5_attached_anew_in_an_event(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	s.on_event = reattach;
	subject_send(&s, 2);
	fixture_until(s.loop, &s.events, 2);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 3);
	subject_close(&s);
}

/* ---- L9: no memory --------------------------------------------------------------- */

struct memory {
	unsigned until; /* this many allocations succeed */
	unsigned calls;
	long bytes;
};

static void *allocate(size_t size, void *ctx)
{
	struct memory *memory = ctx;

	if (memory->calls++ >= memory->until)
		return NULL;
	memory->bytes += (long)size;
	return malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	struct memory *memory = ctx;

	if (ptr)
		memory->bytes -= (long)size;
	free(ptr);
}

static void l9_every_allocation_fails_once(void **state)
{
	struct memory memory = {.until = ~0u};
	const rouse_allocator allocator = {allocate, release, &memory};
	const rouse_loop_options options = {.size = sizeof(options), .allocator = &allocator};
	struct subject s = {0};
	unsigned failures = 0;
	int attached;

	(void)state;
	subject_open(&s, &options);
	do {
		assert_int_equal(subject_detach(s.attached), 0);
		s.attached = NULL;
		assert_int_equal(rouse_loop_destroy(s.loop), 0);
		assert_int_equal(memory.bytes, 0);
		assert_int_equal(rouse_loop_create(&options, &s.loop), 0);
		memory.calls = 0;
		memory.until = failures;
		attached = subject_attach(&s, s.loop, &s.attached);
		memory.until = ~0u;
		if (attached < 0) {
			failures++;
			assert_int_equal(attached, ROUSE_ENOMEM);
			assert_null(s.attached);
			/* Usable. */
			assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
		}
		subject_send(&s, 1);
		s.events = 0;
		fixture_until(s.loop, &s.events, 1);
	} while (attached < 0);
	/* The attachment and its hook. */
	assert_true(failures >= 2);
	subject_close(&s);
	assert_int_equal(memory.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_what_is_attached),
	        cmocka_unit_test(destroyed_loop_releases_it),
	        cmocka_unit_test(l3_detach_in_an_event),
	        cmocka_unit_test(l3_detach_in_after),
	        cmocka_unit_test(l4_detach_and_quit_in_a_post),
	        cmocka_unit_test(l5_attached_anew_in_an_event),
	        cmocka_unit_test(l9_every_allocation_fails_once),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
