#include "seen.h"

static void note(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	struct seen *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_true(self.id == s->self.id);
	assert_ptr_equal(handle, s->handle);
	s->events |= events;
	s->runs++;
	if (s->then)
		s->then(s);
}

void watch_handle(rouse_loop *loop, struct seen *s, HANDLE handle)
{
	s->loop = loop;
	s->handle = handle;
	assert_int_equal(rouse_handle_add(loop, handle, note, s, &s->self), 0);
}

HANDLE new_event(int manual, int set)
{
	HANDLE handle = CreateEventW(NULL, manual, set, NULL);

	assert_non_null(handle);
	return handle;
}

void unwatch_handle(struct seen *s)
{
	assert_int_equal(rouse_remove(s->loop, s->self), 0);
}

void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}
