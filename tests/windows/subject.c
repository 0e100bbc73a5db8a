#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void subject_event(struct subject *s)
{
	s->events++;
	if (s->on_event)
		s->on_event(s);
}

void subject_after(struct subject *s)
{
	s->after++;
	if (s->on_after)
		s->on_after(s);
}

void subject_lost(struct subject *s)
{
	s->lost++;
	s->after_until_lost = s->after;
	if (s->on_lost)
		s->on_lost(s);
}

void subject_begin(void)
{
	struct subject s = {0};

	server_start();
	if (!library_open(&s)) {
		fprintf(stderr, "SKIP: the library does not run on this server\n");
		exit(77);
	}
	library_quit();
}

void subject_open(struct subject *s, const rouse_loop_options *loop_options)
{
	rouse_loop_options options = {.size = sizeof(options)};
	rouse_ns period = s->period;

	if (loop_options)
		options = *loop_options;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(s, 0, sizeof(*s));
	s->period = period;
	assert_int_equal(rouse_loop_create(&options, &s->loop), 0);
	assert_true(library_open(s));
	server_join(s);
	assert_int_equal(subject_attach(s, s->loop, &s->attached), 0);
	server_settle(s);
	s->events = s->after = 0;
}

void subject_quit(struct subject *s)
{
	server_leave(s);
	library_quit();
	s->display = NULL;
	s->wayland = NULL;
}

void subject_close(struct subject *s)
{
	assert_int_equal(subject_detach(s->attached), 0);
	if (s->display || s->wayland)
		subject_quit(s);
	assert_int_equal(rouse_loop_destroy(s->loop), 0);
}
