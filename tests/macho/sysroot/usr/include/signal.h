#ifndef STUB_SIGNAL_H
#define STUB_SIGNAL_H

#include <sys/types.h>

#define SIGINT 2
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGCHLD 20
#define SIGUSR1 30
#define SIGUSR2 31
#define NSIG 32

typedef uint32_t sigset_t;

union sigval {
	int sival_int;
	void *sival_ptr;
};

typedef struct {
	int si_signo;
	int si_errno;
	int si_code;
	pid_t si_pid;
	uid_t si_uid;
	int si_status;
	void *si_addr;
	union sigval si_value;
	long si_band;
	unsigned long stub_rest[7];
} siginfo_t;

struct sigaction {
	union {
		void (*stub_handler)(int);
		void (*stub_action)(int, siginfo_t *, void *);
	} stub_either;
	sigset_t sa_mask;
	int sa_flags;
};
#define sa_handler stub_either.stub_handler
#define sa_sigaction stub_either.stub_action

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SA_ONSTACK 0x0001
#define SA_RESTART 0x0002
#define SA_SIGINFO 0x0040
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define CLD_EXITED 1

int sigaction(int, const struct sigaction *, struct sigaction *);
int sigemptyset(sigset_t *);
int sigfillset(sigset_t *);
int sigaddset(sigset_t *, int);
int sigismember(const sigset_t *, int);
int raise(int);
int kill(pid_t, int);

#endif
