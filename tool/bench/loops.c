#include "bench/loops.h"

#include <stdlib.h>
#include <string.h>

#include "bench/host.h"
#include "bench/hosts.h"
#include "bench/mech.h"
#include "server.h"
#include "tool.h"

/* Why a loop is not to be had. */
enum { WHY = 128 };

static bool have_poller(const char *name)
{
	const char *have;

	for (unsigned i = 0; (have = rouse_poller_name(i)) != NULL; i++)
		if (!name || strcmp(have, name) == 0)
			return true;
	return false;
}

const char *loops_display(const struct display_ops *display, const struct options *o)
{
	const char *name = display->variable ? getenv(display->variable) : NULL;

	if (display->x11 && o->display)
		name = o->display;
	return name && *name ? name : NULL;
}

const char *loops_missing(const struct loop_kind *kind)
{
	return kind->host ? kind->host->missing : kind->display ? kind->display->missing : NULL;
}

/* False if the loop can be measured, else why it cannot. */
static bool cannot(const struct loop_kind *kind, const struct options *o, char *why, size_t size)
{
	const struct display_ops *display = kind->display;

	if (!have_poller(kind->poller))
		snprintf(why, size, "the library has no such poller here");
	else if (loops_missing(kind))
		snprintf(why, size, "%s", hosts_broken() ? hosts_broken() : loops_missing(kind));
	else if (display && display->program && !loops_display(display, o) &&
	         !server_installed(display->program))
		snprintf(why, size, "no $%s, and %s is not installed (apt install %s)",
		         display->variable, display->program, display->package);
	else
		return false;
	return true;
}

void loops_list(const struct options *o)
{
	puts("loops:");
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		const struct loop_kind *kind = &loop_kinds[i];
		const struct display_ops *display = kind->display;
		char why[WHY];

		printf("  %-14s %s", kind->name, kind->summary);
		if (cannot(kind, o, why, sizeof why))
			printf("; not available: %s", why);
		else if (display && display->program && !loops_display(display, o))
			printf("; starts a private %s", display->program);
		else if (display && display->program)
			printf("; uses the display '%s'", loops_display(display, o));
		putchar('\n');
	}
	puts("mechanisms:");
	for (size_t i = 0; mech_table[i]; i++) {
		const struct mech_ops *mech = mech_table[i];
		char why[WHY];

		printf("  %-14s %s", mech->name, mech->summary);
		for (size_t k = 0; (mech->display || mech->host) && k < LOOP_COUNT; k++) {
			const struct loop_kind *kind = &loop_kinds[k];

			if (!mech_exists(mech, kind))
				continue;
			if (cannot(kind, o, why, sizeof why))
				printf("; not available, as %s is not", kind->name);
			else
				printf("; on %s only", kind->name);
		}
		putchar('\n');
	}
	loops_list_limits();
}

int loops_choose(struct options *o, unsigned *ret_skipped)
{
	unsigned displays = 0;

	*ret_skipped = 0;
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		const struct loop_kind *kind = &loop_kinds[i];
		unsigned bit = 1u << i;
		char why[WHY];

		displays |= kind->display ? bit : 0;
		if (o->loops & bit && cannot(kind, o, why, sizeof why)) {
			if (o->loops_named || (kind->display == &display_x11 && o->display)) {
				tool_complain("%s is not available: %s", kind->name, why);
				return TOOL_UNAVAILABLE;
			}
			*ret_skipped |= bit;
			o->loops &= ~bit;
		}
		if (mech_count(o->mechs, kind) == 0)
			o->loops &= ~bit;
	}
	if (o->load > 0 && !(o->loops & displays)) {
		tool_complain("--load: there is no display here; 'rouse bench --list' says why");
		return TOOL_UNAVAILABLE;
	}
	if (o->loops == 0) {
		tool_complain("there is nothing to measure here");
		return TOOL_UNAVAILABLE;
	}
	return 0;
}

void loops_tell_skipped(const struct options *o, unsigned skipped, FILE *out)
{
	const char *before = "SKIP: no ";

	for (size_t i = 0; i < LOOP_GLIB; i++) {
		const struct loop_kind *kind = &loop_kinds[i];
		char why[WHY];

		if (skipped & 1u << i && cannot(kind, o, why, sizeof why))
			fprintf(out, "SKIP: no %s: %s\n",
			        kind->display ? kind->display->name : kind->name, why);
	}
	/* Most builds have few of these, and want none. */
	for (size_t i = LOOP_GLIB; i < LOOP_COUNT; i++) {
		if (skipped & 1u << i) {
			fprintf(out, "%s%s", before, loop_kinds[i].name);
			before = ", ";
		}
	}
	if (strcmp(before, ", ") == 0)
		fputs("; 'rouse bench --list' says why\n", out);
	fflush(out);
}
