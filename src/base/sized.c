#include "base/sized.h"

#include <rouse/rouse.h>

#include <string.h>

int rouse__sized_tail_zero(const void *theirs, size_t their_size, size_t our_size)
{
	const unsigned char *bytes = theirs;

	for (size_t i = our_size; i < their_size; i++)
		if (bytes[i])
			return 0;
	return 1;
}

int rouse__sized_in(void *ours, size_t our_size, const void *theirs, size_t their_size,
                    size_t least)
{
	if (their_size < least)
		return ROUSE_EINVAL;
	if (!rouse__sized_tail_zero(theirs, their_size, our_size))
		return ROUSE_EABI;
	memset(ours, 0, our_size);
	memcpy(ours, theirs, their_size < our_size ? their_size : our_size);
	return 0;
}
