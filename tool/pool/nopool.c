/* In place of `rouse pool`, on a system without it. */
#include "tool.h"

int pool_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	tool_complain("pool is not available on this system");
	return TOOL_UNAVAILABLE;
}
