/* The main thread: what to do, in which order it begins and ends, and the display's loop. */
#include "emitter.h"

#include <rouse/pool.h>
#include <rouse/x11.h>

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct app {
	struct {
		KeySym from, to;     /* to is NoSymbol: look at the screen */
		KeyCode key, to_key; /* as the worker was told */
	} rules[MAX_RULES];
	unsigned count;
	bool measure, without_pool;
	Display *display;
	struct emitter emitter;
	struct worker worker;
	struct tap tap;
};

static const char help[] =
        "usage: emitter [--map FROM=TO]... [--look KEY]... [--without-pool]\n"
        "       emitter --measure [--map FROM=TO] [--without-pool]\n"
        "\n"
        "Emits keys into the X display $DISPLAY, as if they were typed there: whenever the key\n"
        "FROM goes down or up, whoever presses it, so does TO.  What it emits itself it ignores.\n"
        "SIGINT and SIGTERM end it.\n"
        "\n"
        "  --map FROM=TO   names as in X11/keysymdef.h; without any: Pause=XF86Launch9, a key\n"
        "                  that desktops do nothing for unless they are told to\n"
        "  --look KEY      KEY says how bright the screen is\n"
        "  --without-pool  emit without an autorelease pool: leaks, and warns\n"
        "  --measure       emits the first TO 1,000 times and ends: says what 2,000 posts\n"
        "                  (down, up) leave\n";

int server_gone(Display *display)
{
	static const char said[] = "emitter: the X server is gone\n";

	(void)display;
	/* Other threads may be anywhere, in Xlib for one: no more of the program runs. */
	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* Without them the first connection would be standard output, and the server would read what is
 * said. */
static bool fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static KeySym keysym(const char *name)
{
	KeySym symbol = XStringToKeysym(name);

	if (symbol == NoSymbol) {
		fprintf(stderr, "emitter: there is no key named \"%s\"\n", name);
		exit(2);
	}
	return symbol;
}

static void add_rule(struct app *app, char *from, bool look)
{
	char *to = look ? NULL : strchr(from, '=');

	if (!look && !to) {
		fprintf(stderr, "emitter: --map wants FROM=TO, not \"%s\"\n", from);
		exit(2);
	}
	if (app->count == MAX_RULES) {
		fprintf(stderr, "emitter: more than %d keys\n", MAX_RULES);
		exit(2);
	}
	if (to)
		*to++ = '\0';
	app->rules[app->count].from = keysym(from);
	app->rules[app->count++].to = to ? keysym(to) : NoSymbol;
}

static void parse(struct app *app, int argc, char **argv)
{
	static const struct option options[] = {
	        {"map", required_argument, NULL, 'm'},    {"look", required_argument, NULL, 'l'},
	        {"without-pool", no_argument, NULL, 'w'}, {"measure", no_argument, NULL, 'n'},
	        {"help", no_argument, NULL, 'h'},         {0}};
	char otherwise[] = "Pause=XF86Launch9";
	bool mapped = false;

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'm':
		case 'l':
			mapped = mapped || option == 'm';
			add_rule(app, optarg, option == 'l');
			break;
		case 'w':
			app->without_pool = true;
			break;
		case 'n':
			app->measure = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		default:
			exit(2);
		}
	if (optind < argc) {
		fprintf(stderr, "emitter: what is \"%s\"?\n", argv[optind]);
		exit(2);
	}
	if (!mapped)
		add_rule(app, otherwise, false);
}

/* Which key a symbol is on the keyboard; 0: none, and says so. */
static KeyCode key_of(Display *display, KeySym symbol)
{
	KeyCode key = symbol == NoSymbol ? 0 : XKeysymToKeycode(display, symbol);

	if (symbol != NoSymbol && !key)
		fprintf(stderr, "emitter: no key of this keyboard is %s\n",
		        XKeysymToString(symbol));
	return key;
}

/* The worker has no eye on the keyboard: it is told where its keys are, and when they move. */
static bool tell_rules(struct app *app)
{
	bool all = true;

	for (unsigned i = 0; i < app->count; i++) {
		KeySym from = app->rules[i].from, to = app->rules[i].to;
		struct message message = {.kind = MESSAGE_RULE,
		                          .rule = i,
		                          .key = key_of(app->display, from),
		                          .to = key_of(app->display, to)};

		if (!message.key || (to != NoSymbol && !message.to)) {
			message.key = 0; /* not a rule as long as it is so */
			all = false;
		}
		/* Servers tell of a new mapping whenever another keyboard is used, too. */
		if (message.key == app->rules[i].key && message.to == app->rules[i].to_key)
			continue;
		app->rules[i].key = message.key;
		app->rules[i].to_key = message.to;
		queue_put(&app->worker.queue, message);
		if (message.key)
			printf("key %d (%s): %s\n", message.key, XKeysymToString(from),
			       to ? XKeysymToString(to) : "look");
	}
	return all;
}

static void on_event(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	(void)loop, (void)x11;
	/* Every client is sent these; no window is needed. */
	if (event->type != MappingNotify)
		return;
	XRefreshKeyboardMapping(&event->xmapping);
	if (event->xmapping.request == MappingKeyboard)
		tell_rules(data);
}

static void on_lost(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct app *app = data;

	(void)loop, (void)x11;
	server_gone(app->display);
}

static void on_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)self, (void)signo, (void)data;
	rouse_loop_stop(loop);
}

/* Begins with whoever is told, and ends with whoever tells: so nothing is lost at either end. */
static bool run(struct app *app, rouse_loop *loop)
{
	bool ok = false;
	int error;

	if (!worker_start(&app->worker, &app->emitter))
		return false;
	if (tell_rules(app) && tap_start(&app->tap, &app->worker.queue, app->emitter.own)) {
		/* The first symbol has made Xlib ask for news of the keyboard.  That has arrived,
		 * too, before anybody is told that no change of it will be missed. */
		XSync(app->display, False);
		puts("ready");
		error = rouse_loop_run(loop);
		if (error < 0)
			fprintf(stderr, "emitter: %s\n", rouse_strerror(error));
		tap_stop(&app->tap);
		ok = error == 0;
	}
	worker_stop(&app->worker);
	slow_wait();
	if (ok)
		printf("recorded %lu of others, %lu of its own; emitted %lu; live objects %+ld\n",
		       app->tap.others, app->tap.ignored, app->emitter.emitted, app->worker.live);
	return ok;
}

static bool serve(struct app *app)
{
	rouse_x11_options options = {.size = sizeof(options),
	                             .display = app->display,
	                             .data = app,
	                             .event = on_event,
	                             .lost = on_lost};
	rouse_loop *loop = NULL;
	rouse_x11 *x11 = NULL;
	bool ok = false;
	int error = rouse_loop_create(NULL, &loop);

	if (error == 0)
		error = rouse_x11_attach(loop, &options, &x11);
	if (error == 0)
		error = rouse_signal_add(loop, SIGINT, on_signal, NULL, NULL);
	if (error == 0)
		error = rouse_signal_add(loop, SIGTERM, on_signal, NULL, NULL);
	if (error < 0)
		fprintf(stderr, "emitter: %s\n", rouse_strerror(error));
	else
		ok = run(app, loop);
	rouse_x11_detach(x11);
	rouse_loop_destroy(loop);
	return ok;
}

static bool measure_rate(struct app *app)
{
	KeyCode key = 0;

	for (unsigned i = 0; i < app->count && !key; i++)
		key = key_of(app->display, app->rules[i].to);
	return key && measure(&app->emitter, key);
}

int main(int argc, char **argv)
{
	static struct app app;
	bool ok;

	if (!fill_standard_descriptors())
		return 1;
	parse(&app, argc, argv);
	app.emitter.without_pool = app.without_pool;
	if (app.without_pool || app.measure)
		rouse_pool_set_missing(ROUSE_MISSING_WARN, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN); /* Xlib hears of a dead server by an error, too */
	XSetIOErrorHandler(server_gone);

	app.display = XOpenDisplay(NULL);
	if (!app.display) {
		fprintf(stderr, "emitter: cannot open the X display \"%s\"\n", XDisplayName(NULL));
		return 1;
	}
	ok = emitter_open(&app.emitter);
	if (ok) {
		ok = app.measure ? measure_rate(&app) : serve(&app);
		emitter_close(&app.emitter);
	}
	XCloseDisplay(app.display);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "emitter: cannot write to standard output\n");
		ok = false;
	}
	return ok ? 0 : 1;
}
