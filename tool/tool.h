/*
 * What every file of the command shares: its exit statuses, how it speaks of trouble, and what
 * it takes for a number.
 */
#ifndef ROUSE_TOOL_TOOL_H
#define ROUSE_TOOL_TOOL_H

enum tool_status {
	TOOL_MEASURED = 0,
	TOOL_LOST = 1,         /* A wakeup was lost, or an object. */
	TOOL_USAGE = 2,        /* The command line is wrong. */
	TOOL_UNAVAILABLE = 3,  /* What was asked for is not to be had here. */
	TOOL_INTERRUPTED = 130 /* A signal ended the run early. */
};

#define TOOL_NS_PER_SEC 1000000000ull

/* One line on standard error, after "rouse: ". */
__attribute__((format(printf, 1, 2))) void tool_complain(const char *format, ...);

/* An option's value.  0, or TOOL_USAGE after one line of complaint. */
int tool_number(const char *option, const char *text, unsigned min, unsigned max, unsigned *ret);

/* The subcommands; each returns an exit status.  argv[0] is its name. */
int bench_main(int argc, char **argv);
int pool_main(int argc, char **argv);

#endif
