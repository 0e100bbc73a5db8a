#include "os/os.h"

#include <windows.h>
#include <psapi.h>
#include <stdlib.h>
#include <string.h>

/* Those that are loaded; *ret_count may be less than there are.  NULL: none, or no memory. */
static HMODULE *loaded_modules(size_t *ret_count)
{
	HMODULE *modules = NULL;
	DWORD has = 0, needs = 64 * sizeof(*modules);

	while (has < needs) {
		HMODULE *larger = realloc(modules, needs);

		if (!larger)
			break;
		modules = larger;
		has = needs;
		if (!K32EnumProcessModules(GetCurrentProcess(), modules, has, &needs)) {
			free(modules);
			return NULL;
		}
	}
	*ret_count = (has < needs ? has : needs) / sizeof(*modules);
	return modules;
}

/* There is no one space of names here: the first module that has it, the program being first. */
rouse__function rouse__symbol(const char *name)
{
	rouse__function function = NULL;
	size_t count = 0;
	HMODULE *modules = loaded_modules(&count);

	for (size_t i = 0; i < count && !function; i++) {
		FARPROC address = GetProcAddress(modules[i], name);

		memcpy(&function, &address, sizeof function);
	}
	free(modules);
	return function;
}
