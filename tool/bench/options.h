/*
 * The command line of `rouse bench`.
 */
#ifndef ROUSE_TOOL_BENCH_OPTIONS_H
#define ROUSE_TOOL_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

struct display_ops;
struct host_ops;

/* A loop that can be measured: a poller, a display in it or not, a host around it or not. */
struct loop_kind {
	const char *name;
	const char *poller;                /* NULL: the library's choice. */
	const struct display_ops *display; /* NULL: none. */
	const struct host_ops *host;       /* NULL: it runs by itself. */
	const char *summary;
};

enum {
#ifdef _WIN32
	LOOP_WIN32,
	LOOP_WIN32_POLLER,
#endif
	LOOP_EPOLL,
	LOOP_POLL,
	LOOP_X11,
	LOOP_WAYLAND,
	LOOP_GLIB,
	LOOP_UV,
	LOOP_QT,
	LOOP_GLFW,
	LOOP_SDL,
	LOOP_APPKIT,
	LOOP_COUNT
};
/* These and what --help says are the system's: kinds_posix.c, kinds_win32.c. */
extern const struct loop_kind loop_kinds[LOOP_COUNT];
extern const unsigned loop_defaults; /* One bit each. */
extern const char options_usage[];

struct options {
	unsigned loops;      /* One bit per loop_kinds[]. */
	bool loops_named;    /* By --on: what is not to be had is then an error. */
	unsigned mechs;      /* One bit per mech_table[]. */
	unsigned seconds;    /* Per loop. */
	unsigned rate;       /* Wakeups a second of each mechanism. */
	unsigned fd_rate;    /* Ticks a second of the external descriptor. */
	unsigned busy_us;    /* How long the disturbing callback takes; 0: none. */
	unsigned load;       /* Clients that keep the display's server busy. */
	const char *display; /* The X server of x11, glfw, sdl and appkit. */
	const char *log;
	const char *json;
	bool list;
	bool help;
};

/* Wakeups per mechanism, at most: what the sample store is allowed to grow to. */
#define OPTIONS_MAX_FIRES 1000000u

/* Fills `options`, defaults included.  0, or TOOL_USAGE after one line of complaint. */
int options_parse(struct options *options, int argc, char **argv);
void options_help(FILE *out);

#endif
