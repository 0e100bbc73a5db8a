#include "subject.h"

#include "display/xvfb.h"
#include "x11_server.h"

const char server_driver[] = "x11";

static struct xvfb server;

void server_start(void)
{
	xvfb_start(&server);
}

void server_kill(void)
{
	xvfb_kill(&server);
	xvfb_stop(&server);
}

void server_join(struct subject *s)
{
	s->other = XOpenDisplay(NULL);
	assert_non_null(s->other);
	XSync(s->display, False);
}

void server_leave(struct subject *s)
{
	if (s->other)
		XCloseDisplay(s->other);
	s->other = NULL;
}

void server_settle(struct subject *s)
{
	fixture_settle(s->loop);
}

void server_round_trip(struct subject *s)
{
	XSync(s->display, False);
}

const bool server_draws = true;

void server_draw(struct subject *s)
{
	XClearWindow(s->display, s->window);
}

bool server_has_seat(void)
{
	return true;
}

rouse_fd server_fd(const struct subject *s)
{
	return ConnectionNumber(s->display);
}

void x11_expose(Display *display, Window window, unsigned count)
{
	XEvent event = {.xexpose = {.type = Expose, .window = window, .width = 1, .height = 1}};

	for (unsigned i = 0; i < count; i++)
		XSendEvent(display, window, False, NoEventMask, &event);
}

void subject_ask(struct subject *s, unsigned count)
{
	x11_expose(s->display, s->window, count);
}

void subject_send(struct subject *s, unsigned count)
{
	int fd = ConnectionNumber(s->display), before = fixture_bytes(fd);

	x11_expose(s->other, s->window, count);
	XSync(s->other, False);
	fixture_await_bytes_of(fd, before + 32 * (int)count);
}

void subject_queue(struct subject *s, unsigned count)
{
	int before = XQLength(s->display);

	/* A socket holds some 200 KB of events. */
	for (unsigned sent = 0, some; sent < count; sent += some) {
		some = count - sent < 1000 ? count - sent : 1000;
		subject_ask(s, some);
		XSync(s->display, False);
	}
	assert_true(XQLength(s->display) >= before + (int)count);
}
