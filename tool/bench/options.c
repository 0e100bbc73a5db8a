#include "bench/options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/display.h"
#include "bench/mech.h"
#include "tool.h"

void options_help(FILE *out)
{
	fputs(options_usage, out);
}

static const char *loop_name(size_t i)
{
	return i < LOOP_COUNT ? loop_kinds[i].name : NULL;
}

static const char *mech_name(size_t i)
{
	return mech_table[i] ? mech_table[i]->name : NULL;
}

/* Names separated by commas, each once or more. */
static int parse_list(const char *option, const char *text, const char *(*name)(size_t),
                      unsigned *ret)
{
	unsigned bits = 0;

	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		size_t i = 0;

		while (name(i) && (strlen(name(i)) != length || memcmp(name(i), at, length) != 0))
			i++;
		if (!name(i)) {
			tool_complain(
			        "--%s: there is no '%.*s'; 'rouse bench --list' shows the names",
			        option, (int)length, at);
			return TOOL_USAGE;
		}
		bits |= 1u << i;
		at += length;
		if (*at == '\0')
			break;
	}
	*ret = bits;
	return 0;
}

/* What is wrong between options rather than in one. */
static int check_together(const struct options *o)
{
	const unsigned x11 = 1u << LOOP_X11 | 1u << LOOP_GLFW | 1u << LOOP_SDL | 1u << LOOP_APPKIT;

	if ((uint64_t)o->rate * o->seconds > OPTIONS_MAX_FIRES) {
		tool_complain("--rate %u for %u s is more than %u wakeups of each mechanism",
		              o->rate, o->seconds, OPTIONS_MAX_FIRES);
		return TOOL_USAGE;
	}
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		if (!(o->loops & 1u << i) || mech_count(o->mechs, &loop_kinds[i]) > 0)
			continue;
		if (o->loops_named) {
			tool_complain("none of the mechanisms of --mech exists on %s",
			              loop_kinds[i].name);
			return TOOL_USAGE;
		}
	}
	if (!(o->loops & x11) && o->display) {
		tool_complain("--display has no meaning without the loop x11, glfw, sdl or appkit");
		return TOOL_USAGE;
	}
	if (!(o->loops & (x11 | 1u << LOOP_WAYLAND)) && o->load > 0) {
		tool_complain("--load has no meaning without a loop that has a display");
		return TOOL_USAGE;
	}
	if (o->display && !*o->display) {
		tool_complain("--display wants the name of a display");
		return TOOL_USAGE;
	}
	if (o->json && o->log && strcmp(o->json, o->log) == 0) {
		tool_complain("--json and --log name the same file, '%s'", o->log);
		return TOOL_USAGE;
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	enum { ON = 1, MECH, FOR, RATE, FD_RATE, DISPLAY, BUSY, LOAD, LOG, JSON, LIST, HELP };
	static const struct option longs[] = {
	        {"on", required_argument, NULL, ON},
	        {"mech", required_argument, NULL, MECH},
	        {"for", required_argument, NULL, FOR},
	        {"rate", required_argument, NULL, RATE},
	        {"fd-rate", required_argument, NULL, FD_RATE},
	        {"display", required_argument, NULL, DISPLAY},
	        {"busy", required_argument, NULL, BUSY},
	        {"load", required_argument, NULL, LOAD},
	        {"log", required_argument, NULL, LOG},
	        {"json", required_argument, NULL, JSON},
	        {"list", no_argument, NULL, LIST},
	        {"help", no_argument, NULL, HELP},
	        {NULL, 0, NULL, 0},
	};
	int c, rc = 0;

	*o = (struct options){.loops = loop_defaults,
	                      .mechs = UINT32_MAX,
	                      .seconds = 30,
	                      .rate = 10,
	                      .fd_rate = 7};
	opterr = 0;
	while (rc == 0 && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		switch (c) {
		case ON:
			o->loops_named = true;
			rc = parse_list("on", optarg, loop_name, &o->loops);
			break;
		case MECH:
			rc = parse_list("mech", optarg, mech_name, &o->mechs);
			break;
		case FOR:
			rc = tool_number("for", optarg, 1, 86400, &o->seconds);
			break;
		case RATE:
			rc = tool_number("rate", optarg, 1, 1000, &o->rate);
			break;
		case FD_RATE:
			rc = tool_number("fd-rate", optarg, 1, 1000, &o->fd_rate);
			break;
		case DISPLAY:
			o->display = optarg;
			break;
		case BUSY:
			rc = tool_number("busy", optarg, 0, 1000000, &o->busy_us);
			break;
		case LOAD:
			rc = tool_number("load", optarg, 0, 64, &o->load);
			break;
		case LOG:
			o->log = optarg;
			break;
		case JSON:
			o->json = optarg;
			break;
		case LIST:
			o->list = true;
			break;
		case HELP:
			o->help = true;
			return 0;
		case ':':
			tool_complain("%s wants a value; try 'rouse bench --help'",
			              argv[optind - 1]);
			return TOOL_USAGE;
		default:
			tool_complain("unknown option '%s'; try 'rouse bench --help'",
			              argv[optind - 1]);
			return TOOL_USAGE;
		}
	}
	if (rc == 0 && optind < argc) {
		tool_complain("'%s' is too much; try 'rouse bench --help'", argv[optind]);
		return TOOL_USAGE;
	}
	return rc == 0 ? check_together(o) : rc;
}
