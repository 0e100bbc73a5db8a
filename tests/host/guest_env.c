#include "guest.h"

#include <unistd.h>

int open_guest(void **state)
{
	static struct guest guest;

	host_open();
	assert_int_equal(rouse_loop_create(NULL, &guest.loop), 0);
	guest.remote = rouse_loop_remote(guest.loop);
	assert_int_equal(host_attach(guest.loop), 0);
	*state = &guest;
	return 0;
}

int close_guest(void **state)
{
	struct guest *guest = *state;

	rouse_remote_unref(guest->remote);
	if (guest->loop) {
		assert_int_equal(host_detach(), 0);
		assert_int_equal(rouse_loop_destroy(guest->loop), 0);
	}
	host_close();
	return 0;
}

void settle(void)
{
	for (int i = 0; i < 10; i++)
		host_poll();
}

void count_post(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

void count_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	char bytes[64];

	(void)loop, (void)self, (void)events;
	assert_true(read(fd, bytes, sizeof bytes) > 0);
	++*(unsigned *)data;
}

void count_tick(void *data)
{
	++*(unsigned *)data;
}

void write_byte(void *data)
{
	assert_int_equal(write(*(int *)data, "x", 1), 1);
}
