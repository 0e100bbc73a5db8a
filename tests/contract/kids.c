#include "kids.h"

#include "core/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int without_pidfds;

int setup_without_pidfds(void **state)
{
	without_pidfds = 1;
	rouse__fault_fail(ROUSE__PIDFD, 0, UINT_MAX, ENOSYS);
	return env_setup(state);
}

void kid_spawn(struct kid *kid, int code)
{
	int gate[2];
	char byte;

	memset(kid, 0, sizeof *kid);
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	kid->gate = gate[1];
	kid->pid = fork();
	assert_true(kid->pid >= 0);
	if (kid->pid > 0) {
		close(gate[0]);
		return;
	}
	/* So that it ends, too, where the parent does. */
	close(gate[1]);
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	if (code < 0) {
		signal(-code, SIG_DFL);
		kill(getpid(), -code);
	}
	_exit(code);
}

void kid_let_go(struct kid *kid)
{
	assert_int_equal(write(kid->gate, "x", 1), 1);
	close(kid->gate);
	kid->gate = -1;
}

/* Wait until it has ended, and leave it for whoever waits for it. */
static void until_ended(const struct kid *kid)
{
	siginfo_t info;
	int result;

	do
		result = waitid(P_PID, (id_t)kid->pid, &info, WEXITED | WNOWAIT);
	while (result && errno == EINTR);
	assert_int_equal(result, 0);
}

void kid_end(struct kid *kid)
{
	kid_let_go(kid);
	until_ended(kid);
}

void kid_left_to_us(const struct kid *kid)
{
	pid_t pid;
	int status;

	do
		pid = waitpid(kid->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	assert_int_equal(pid, kid->pid);
}

void kid_waited_for(const struct kid *kid)
{
	assert_int_equal(waitpid(kid->pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

void kid_note(rouse_loop *loop, rouse_source self, rouse_process process, const rouse_exit *how,
              void *data)
{
	struct kid *kid = data;

	assert_true(self.id == kid->self.id);
	assert_int_equal(process, kid->pid);
	kid->runs++;
	kid->how = *how;
	if (kid->removes)
		assert_int_equal(rouse_remove(loop, kid->removes->self), 0);
}

void kid_watch(struct env *env, struct kid *kid)
{
	assert_int_equal(rouse_child_add(env->loop, kid->pid, kid_note, kid, &kid->self), 0);
}

int sigchld_is_default(void)
{
	struct sigaction now;

	assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
	return now.sa_handler == SIG_DFL;
}

void kid_told(struct env *env, const struct kid *kid, unsigned code, int signo)
{
	assert_int_equal(kid->runs, 1);
	assert_int_equal(kid->how.known, 1);
	assert_int_equal(kid->how.signo, signo);
	if (!signo)
		assert_int_equal(kid->how.code, code);
	kid_waited_for(kid);
	assert_int_equal(rouse_remove(env->loop, kid->self), ROUSE_ESTALE);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(kid->runs, 1);
	assert_true(sigchld_is_default());
}

unsigned kids_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}
