#include "wl_guest.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

void wl_guest_asked(struct wl_fixture *f)
{
	wl_fixture_ask(f);
	assert_true(wl_display_flush(f->display) >= 0);
}

/* Readers: threads of the library's, which have its name. */
static unsigned readers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(dir))) {
		char path[64], name[32] = "";

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", entry->d_name);
		FILE *file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file))
			count += !strcmp(name, "rouse-wayland\n");
		if (file)
			fclose(file);
	}
	closedir(dir);
	return count;
}

/* A thread has no name at first, and is listed for a moment after it was joined. */
void wl_guest_readers(unsigned expected)
{
	rouse_ns end = rouse_now() + SOON;

	while (readers() != expected)
		assert_true(rouse_now() < end);
}

bool wl_guest_wakes(rouse_fd fd, rouse_ns longest)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, (int)(longest / MS)) == 1;
}

void wl_guest_turn(struct wl_fixture *f, rouse_fd fd)
{
	assert_true(wl_guest_wakes(fd, SOON));
	assert_true(rouse_loop_turn(f->loop, 0) >= 0);
}

void wl_guest_until(struct wl_fixture *f, rouse_fd fd, const unsigned *what, unsigned least)
{
	while (*what < least)
		wl_guest_turn(f, fd);
}

/* A reader that has just begun may have something to say once. */
void wl_guest_rests(struct wl_fixture *f, rouse_fd fd)
{
	while (wl_guest_wakes(fd, 20 * MS))
		assert_true(rouse_loop_turn(f->loop, 0) >= 0);
}

rouse_fd wl_guest_open(struct wl_fixture *f, bool sole)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	rouse_fd fd;

	wl_fixture_open(f, NULL, &epoll);
	if (sole) {
		rouse_wayland_options options = wl_fixture_options(f);

		wl_fixture_detach(f);
		options.sole_reader = 1;
		assert_int_equal(rouse_wayland_attach(f->loop, &options, &f->wayland), 0);
	}
	assert_int_equal(rouse_loop_fd(f->loop, &fd), 0);
	wl_guest_rests(f, fd);
	return fd;
}
