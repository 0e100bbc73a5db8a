#ifndef STUB_SYS_WAIT_H
#define STUB_SYS_WAIT_H

#include <signal.h>
#include <sys/types.h>

typedef enum { P_ALL, P_PID, P_PGID } idtype_t;

#define WNOHANG 0x01
#define WEXITED 0x04
#define WNOWAIT 0x20
#define WIFEXITED(status) (((status)&0x7f) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)

int waitid(idtype_t, id_t, siginfo_t *, int);
pid_t waitpid(pid_t, int *, int);

#endif
