#ifndef STUB_STDLIB_H
#define STUB_STDLIB_H

#include <stddef.h>

void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void abort(void) __attribute__((noreturn));
void exit(int) __attribute__((noreturn));
int atexit(void (*)(void));
char *getenv(const char *);
int setenv(const char *, const char *, int);
int unsetenv(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
int atoi(const char *);
unsigned long strtoul(const char *, char **, int);

#endif
