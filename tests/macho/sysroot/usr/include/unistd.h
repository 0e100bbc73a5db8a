#ifndef STUB_UNISTD_H
#define STUB_UNISTD_H

#include <sys/types.h>

#define STDERR_FILENO 2

int close(int);
int dup(int);
int dup2(int, int);
int pipe(int[2]);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int issetugid(void);
int usleep(useconds_t);
pid_t fork(void);
pid_t getpid(void);
void _exit(int) __attribute__((noreturn));

#endif
