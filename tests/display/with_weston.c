/* with_weston PROGRAM [ARGUMENT...]: run a program with a private compositor to itself. */
#include "display/weston.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct weston weston;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	weston_start(&weston);
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	weston_stop(&weston);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
