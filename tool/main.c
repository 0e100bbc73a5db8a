/*
 * The command `rouse`: finds the subcommand and hands over.
 */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <rouse/rouse.h>
#include <rouse/version.h>

#include "system.h"

static const struct subcommand {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *summary;
} subcommands[] = {
        {"bench", bench_main, "measure how long wakeups take on the loops of this machine"},
        {"pool", pool_main, "measure what autorelease pools cost and hold on this machine"},
};

#define SUBCOMMANDS (sizeof subcommands / sizeof subcommands[0])

static void print_usage(FILE *out)
{
	fputs("usage: rouse [--help | --version] COMMAND [OPTION...]\n\n"
	      "Wake a thread's event loop from any thread, whatever the loop is.\n\n"
	      "Commands ('rouse COMMAND --help' says more):\n",
	      out);
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
}

static void print_version(void)
{
	unsigned v = rouse_version();

	printf("rouse %s (library %u.%u.%u)\n", ROUSE_VERSION_STRING, v >> 16, v >> 8 & 0xffu,
	       v & 0xffu);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
	        {"help", no_argument, NULL, 'h'},
	        {"version", no_argument, NULL, 'V'},
	        {NULL, 0, NULL, 0},
	};

	if (system_begin() < 0)
		return TOOL_UNAVAILABLE;
	opterr = 0;
	switch (getopt_long(argc, argv, "+hV", longs, NULL)) {
	case 'h':
		print_usage(stdout);
		return 0;
	case 'V':
		print_version();
		return 0;
	case -1:
		break;
	default:
		tool_complain("unknown option '%s'; try 'rouse --help'", argv[optind - 1]);
		return TOOL_USAGE;
	}
	if (optind == argc) {
		print_usage(stderr);
		return TOOL_USAGE;
	}
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(subcommands[i].name, argv[optind]) == 0) {
			int first = optind;

			optind = 0; /* Start over, on another vector. */
			return subcommands[i].main(argc - first, argv + first);
		}
	}
	tool_complain("unknown command '%s'; try 'rouse --help'", argv[optind]);
	return TOOL_USAGE;
}
