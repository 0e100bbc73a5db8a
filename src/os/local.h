/*
 * Variables that each thread has for itself.
 *
 * ROUSE__LOCAL in front of a definition makes it one; ROUSE__MINE(variable) is the address of the
 * calling thread's.  Elsewhere than on Windows that is C11's _Thread_local and nothing more.
 *
 * On Windows gcc keeps such variables in memory that its runtime asks for at the first use: that
 * may fail, and then the program is ended.  So ours lie where the system looks for them: in the
 * module's section .tls, of which the loader gives each thread a copy, before it runs and also
 * where the module is loaded later, and frees it after the last callback of the thread's end.  What
 * the program sees under the variable's name is what those copies are made from.  The section's
 * parts are sorted by name, and end with ".tls$ZZZ".
 */
#ifndef ROUSE_OS_LOCAL_H
#define ROUSE_OS_LOCAL_H

#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__)
#define ROUSE__LOCAL __attribute__((section(".tls$R")))

/* Of the C runtime: where the section begins, and the module's number among those that have one. */
extern char *_tls_start;
extern unsigned long _tls_index;

static inline void *rouse__mine(const void *variable)
{
	char **of_modules;

#if defined(__x86_64__)
	__asm__("movq %%gs:0x58, %0" : "=r"(of_modules));
#elif defined(__i386__)
	__asm__("movl %%fs:0x2c, %0" : "=r"(of_modules));
#elif defined(__aarch64__)
	__asm__("ldr %0, [x18, #0x58]" : "=r"(of_modules));
#else
#error "where does this processor's Windows keep a thread's variables?"
#endif
	return of_modules[_tls_index] + ((const char *)variable - (const char *)&_tls_start);
}
#define ROUSE__MINE(variable) ((__typeof__(&(variable)))rouse__mine(&(variable)))

#else
#define ROUSE__LOCAL _Thread_local
#define ROUSE__MINE(variable) (&(variable))
#endif

#endif
