#include "machine.h"

#include <stdio.h>
#include <windows.h>

/* What this Windows is, if it is another one's: wine says so by functions that Windows has not. */
static void read_wine(HMODULE ntdll, char *text, size_t size)
{
	const char *(*version)(void) =
	        (const char *(*)(void))(void (*)(void))GetProcAddress(ntdll, "wine_get_version");
	void (*host)(const char **, const char **) = (void (*)(const char **, const char **))(
	        void (*)(void))GetProcAddress(ntdll, "wine_get_host_version");
	const char *system = "unknown", *release = "";

	if (!version)
		return;
	if (host)
		host(&system, &release);
	snprintf(text, size, ", which is wine %.32s on %.32s %.64s", version(), system, release);
}

static const char *architecture(void)
{
	SYSTEM_INFO info;

	GetNativeSystemInfo(&info);
	switch (info.wProcessorArchitecture) {
	case PROCESSOR_ARCHITECTURE_AMD64:
		return "x86_64";
	case PROCESSOR_ARCHITECTURE_INTEL:
		return "i686";
	case PROCESSOR_ARCHITECTURE_ARM64:
		return "aarch64";
	default:
		return "unknown";
	}
}

/* GetVersionEx() tells programs what they were made for. */
static void read_version(char *text, size_t size)
{
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	LONG(WINAPI * version)
	(OSVERSIONINFOW *) = (LONG(WINAPI *)(OSVERSIONINFOW *))(void (*)(void))GetProcAddress(
	        ntdll, "RtlGetVersion");
	OSVERSIONINFOW info = {.dwOSVersionInfoSize = sizeof info};
	char wine[160] = "";

	if (!version || version(&info) != 0)
		return;
	read_wine(ntdll, wine, sizeof wine);
	snprintf(text, size, "Windows %lu.%lu.%lu %s%s", info.dwMajorVersion, info.dwMinorVersion,
	         info.dwBuildNumber, architecture(), wine);
}

static void read_processor(char *text, size_t size)
{
	DWORD bytes = (DWORD)size;

	if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
	                 "ProcessorNameString", RRF_RT_REG_SZ, NULL, text, &bytes) != ERROR_SUCCESS)
		text[0] = '\0';
}

void machine_read(struct machine *m)
{
	DWORD_PTR mine = 0, all = 0;

	*m = (struct machine){.no_load = true};
	read_version(m->kernel, sizeof m->kernel);
	read_processor(m->processor, sizeof m->processor);
	snprintf(m->clock_source, sizeof m->clock_source, "QueryPerformanceCounter");
	if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
		for (; mine; mine &= mine - 1)
			m->cpus++;
}
