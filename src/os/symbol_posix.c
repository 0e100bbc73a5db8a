#include "os/os.h"

#include <dlfcn.h>
#include <string.h>

rouse__function rouse__symbol(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	rouse__function function;

	memcpy(&function, &address, sizeof function);
	return function;
}
