#include "os/os.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *rouse__environment(const char *name)
{
#ifdef ROUSE_KQUEUE
	return issetugid() ? NULL : getenv(name);
#else
	return secure_getenv(name);
#endif
}

/* In one call, so that lines of several threads do not mix. */
void rouse__complain(const char *what, void *caller)
{
	const char *at = caller;
	Dl_info info = {0};

	if (!caller)
		fprintf(stderr, "rouse: %s\n", what);
	/* The call itself lies before the address that it returns to. */
	else if (!dladdr(at - 1, &info) || !info.dli_fname)
		fprintf(stderr, "rouse: %s, at %p\n", what, caller);
	else if (!info.dli_sname)
		fprintf(stderr, "rouse: %s, at %p (%s+0x%tx)\n", what, caller, info.dli_fname,
		        at - (const char *)info.dli_fbase);
	else
		fprintf(stderr, "rouse: %s, at %p (%s+0x%tx in %s)\n", what, caller, info.dli_sname,
		        at - (const char *)info.dli_saddr, info.dli_fname);
}
