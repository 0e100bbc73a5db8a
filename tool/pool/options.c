#include "pool/options.h"

#include <getopt.h>

#include "pool/result.h"
#include "tool.h"

void pool_options_help(FILE *out)
{
	fputs("usage: rouse pool [OPTION...]\n\n"
	      "Measure on this machine what autorelease pools cost and hold, beside the published\n"
	      "figures of \"Autorelease Pools\": objects that no pool releases, a pool every so\n"
	      "many posts, an empty push and pop, and one emit through XTEST, into a private "
	      "Xvfb.\n\n"
	      "  --posts N    posts of each row in each round (400000)\n"
	      "  --rounds N   rounds; a figure is their median, with its quartiles (15)\n"
	      "  --json FILE  write the result as JSON ('-': standard output)\n"
	      "  --help       show this\n\n"
	      "Exit status: 0 measured, 1 an object was lost, 2 usage, 3 not available,\n"
	      "130 interrupted (what was measured is reported).\n",
	      out);
}

int pool_options_parse(struct pool_options *o, int argc, char **argv)
{
	enum { POSTS = 1, ROUNDS, JSON, HELP };
	static const struct option longs[] = {
	        {"posts", required_argument, NULL, POSTS},
	        {"rounds", required_argument, NULL, ROUNDS},
	        {"json", required_argument, NULL, JSON},
	        {"help", no_argument, NULL, HELP},
	        {NULL, 0, NULL, 0},
	};
	int c, rc = 0;

	*o = (struct pool_options){.posts = 400000, .rounds = 15};
	opterr = 0;
	while (rc == 0 && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		switch (c) {
		case POSTS:
			/* Fewer than the largest pool takes would never fill it. */
			rc = tool_number("posts", optarg, POOL_MOST_BATCH, 10000000, &o->posts);
			break;
		case ROUNDS:
			rc = tool_number("rounds", optarg, 1, POOL_MOST_ROUNDS, &o->rounds);
			break;
		case JSON:
			o->json = optarg;
			break;
		case HELP:
			o->help = true;
			return 0;
		case ':':
			tool_complain("%s wants a value; try 'rouse pool --help'",
			              argv[optind - 1]);
			return TOOL_USAGE;
		default:
			tool_complain("unknown option '%s'; try 'rouse pool --help'",
			              argv[optind - 1]);
			return TOOL_USAGE;
		}
	}
	if (rc == 0 && optind < argc) {
		tool_complain("'%s' is too much; try 'rouse pool --help'", argv[optind]);
		return TOOL_USAGE;
	}
	return rc;
}
