#ifndef STUB_STDIO_H
#define STUB_STDIO_H

#include <stddef.h>

typedef struct stub_file FILE;
extern FILE *__stdoutp;
extern FILE *__stderrp;
#define stdout __stdoutp
#define stderr __stderrp

int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *, const char *, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));
int puts(const char *);
int fflush(FILE *);
FILE *fopen(const char *, const char *);
int fclose(FILE *);

#endif
