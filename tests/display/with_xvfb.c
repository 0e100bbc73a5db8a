/* with_xvfb PROGRAM [ARGUMENT...]: run a program with a private X server to itself. */
#include "display/xvfb.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct xvfb xvfb;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	xvfb_start(&xvfb);
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	xvfb_stop(&xvfb);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
