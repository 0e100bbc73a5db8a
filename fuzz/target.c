/* One input: played on the library, then on the model. */
#include "target.h"

#include "world.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/asan_interface.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int started, print;

	if (!started) {
		started = 1;
		print = getenv("ROUSE_FUZZ_PRINT") != NULL;
#ifdef ASAN
		__sanitizer_set_death_callback(trace_dump);
#endif
	}
	trace_write(print);
	play(&library, data, size);
	trace_compare();
	play(&model, data, size);
	trace_end();
	return 0;
}
