#include "os/os.h"

#include <windows.h>
#include <stdio.h>
#include <stdlib.h>

/* There are no programs with more rights than their user. */
const char *rouse__environment(const char *name)
{
	return getenv(name);
}

/* ---- Who is at an address ------------------------------------------------------- */

struct place {
	HMODULE module;
	char file[MAX_PATH];
	const char *symbol; /* the nearest exported one at or before it; NULL: none */
	size_t offset;      /* from that, or from the module's begin */
};

static const void *at(HMODULE module, DWORD offset)
{
	return (const char *)module + offset;
}

static const IMAGE_DATA_DIRECTORY *exports_of(HMODULE module)
{
	const IMAGE_DOS_HEADER *dos = (const void *)module;
	const IMAGE_NT_HEADERS *nt = at(module, (DWORD)dos->e_lfanew);

	return &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
}

static void find_symbol(struct place *place)
{
	const IMAGE_DATA_DIRECTORY *where = exports_of(place->module);
	const IMAGE_EXPORT_DIRECTORY *exports = at(place->module, where->VirtualAddress);
	const DWORD *names, *functions;
	const WORD *ordinals;
	size_t nearest = 0;

	if (!where->Size)
		return;
	names = at(place->module, exports->AddressOfNames);
	functions = at(place->module, exports->AddressOfFunctions);
	ordinals = at(place->module, exports->AddressOfNameOrdinals);
	for (DWORD i = 0; i < exports->NumberOfNames; i++) {
		size_t begin = functions[ordinals[i]];

		if (begin > place->offset || begin < nearest)
			continue;
		nearest = begin;
		place->symbol = at(place->module, names[i]);
	}
	if (place->symbol)
		place->offset -= nearest;
}

static int find_place(const char *address, struct place *place)
{
	const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
	                    GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;

	*place = (struct place){0};
	if (!GetModuleHandleExA(flags, address, &place->module) ||
	    !GetModuleFileNameA(place->module, place->file, sizeof place->file))
		return 0;
	place->file[sizeof place->file - 1] = '\0';
	place->offset = (size_t)(address - (const char *)place->module);
	find_symbol(place);
	return 1;
}

/* In one call, so that lines of several threads do not mix. */
void rouse__complain(const char *what, void *caller)
{
	struct place place;

	if (!caller)
		fprintf(stderr, "rouse: %s\n", what);
	/* The call itself lies before the address that it returns to. */
	else if (!find_place((const char *)caller - 1, &place))
		fprintf(stderr, "rouse: %s, at %p\n", what, caller);
	else if (!place.symbol)
		fprintf(stderr, "rouse: %s, at %p (%s+0x%llx)\n", what, caller, place.file,
		        (unsigned long long)place.offset + 1);
	else
		fprintf(stderr, "rouse: %s, at %p (%s+0x%llx in %s)\n", what, caller, place.symbol,
		        (unsigned long long)place.offset + 1, place.file);
}
