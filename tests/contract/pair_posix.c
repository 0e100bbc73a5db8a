/* Channels are pipes. */
#include "env.h"

#include <fcntl.h>
#include <unistd.h>

void env_pair_open(rouse_fd *fd, rouse_fd *peer)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	*fd = ends[0];
	*peer = ends[1];
}

void env_pair_write(rouse_fd peer)
{
	assert_int_equal(write(peer, "x", 1), 1);
}

int env_pair_drain(rouse_fd fd)
{
	char sink[256];
	ssize_t n;
	int sum = 0;

	while ((n = read(fd, sink, sizeof sink)) > 0)
		sum += (int)n;
	return sum;
}

void env_pair_close(rouse_fd fd)
{
	close(fd);
}

void env_pair_hang_up(rouse_fd fd, rouse_fd peer)
{
	(void)fd;
	close(peer);
}
