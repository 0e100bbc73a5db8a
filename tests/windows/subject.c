/* What both subjects have in common. */
#include "subject.h"

void subject_expose(Display *display, Window window, unsigned count)
{
	XEvent event = {.xexpose = {.type = Expose, .window = window, .width = 1, .height = 1}};

	for (unsigned i = 0; i < count; i++)
		XSendEvent(display, window, False, NoEventMask, &event);
	XSync(display, False);
}

void subject_send(struct subject *s, unsigned count)
{
	int fd = ConnectionNumber(s->display), before = fixture_bytes(fd);

	subject_expose(s->other, s->window, count);
	fixture_await_bytes_of(fd, before + 32 * (int)count);
}

void subject_queue(struct subject *s, unsigned count)
{
	int before = XQLength(s->display);

	/* A socket holds some 200 KB of events. */
	for (unsigned sent = 0, some; sent < count; sent += some) {
		some = count - sent < 1000 ? count - sent : 1000;
		subject_expose(s->display, s->window, some);
	}
	assert_true(XQLength(s->display) >= before + (int)count);
}
