/* The program itself as a child: what it does there its first argument says. */
#ifndef ROUSE_TESTS_WIN32_CHILD_H
#define ROUSE_TESTS_WIN32_CHILD_H

#include "win32.h"

#include <wchar.h>

/* A process that runs this program with these arguments; its handle is the caller's. */
static inline HANDLE start_child(const wchar_t *arguments, DWORD flags, DWORD *ret_id)
{
	STARTUPINFOW how = {.cb = sizeof how};
	PROCESS_INFORMATION made;
	wchar_t program[MAX_PATH], line[2 * MAX_PATH];

	assert_true(GetModuleFileNameW(NULL, program, MAX_PATH));
	assert_true(swprintf(line, COUNT(line), L"\"%ls\" %ls", program, arguments) > 0);
	assert_true(
	        CreateProcessW(program, line, NULL, NULL, FALSE, flags, NULL, NULL, &how, &made));
	CloseHandle(made.hThread);
	if (ret_id)
		*ret_id = made.dwProcessId;
	return made.hProcess;
}

#endif
