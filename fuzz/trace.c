#include "trace.h"

#include <rouse/null.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Past TRACE_ENOUGH what has begun comes to its end; that takes no more than this. */
#define MOST 16384u

static struct event events[MOST];
static size_t written, compared;
static int comparing, printing;
static const char *name;

static const struct {
	const char *name, *arguments;
} texts[] = {
#define TEXT(name, text, arguments) [name] = {text, arguments},
        TRACE_CALLS(TEXT) TRACE_CALLBACKS(TEXT)
#undef TEXT
};

#define COUNTER(field)                                                                             \
	[(offsetof(rouse_stats, field) - offsetof(rouse_stats, turns)) / sizeof(uint64_t)] = #field

static const char *const counters[16] = {
        COUNTER(turns),        COUNTER(callbacks),       COUNTER(wakes_sent),
        COUNTER(wakes_served), COUNTER(wakes_spurious),  COUNTER(wakes_failed),
        COUNTER(posts_run),    COUNTER(posts_cancelled), COUNTER(timers_skipped),
        COUNTER(fds_dropped),  COUNTER(hangups_ignored), COUNTER(posts_over),
        COUNTER(timers_over),  COUNTER(hooks_over),      COUNTER(fds_over),
};

/* ---- In words --------------------------------------------------------------- */

static void print_bits(uint64_t bits, const char *letters)
{
	if (!bits)
		fputc('0', stderr);
	for (unsigned i = 0; letters[i]; i++)
		if (bits & UINT64_C(1) << i)
			fputc(letters[i], stderr);
	if (bits >> strlen(letters))
		fprintf(stderr, "+%#" PRIx64, bits);
}

static void print_time(uint64_t time, uint64_t zero)
{
	if (time > ROUSE_NEVER - 16)
		fprintf(stderr, time == ROUSE_NEVER ? "NEVER" : "NEVER-%" PRIu64,
		        ROUSE_NEVER - time);
	else if (zero && time >= zero)
		fprintf(stderr, "epoch+%" PRIu64, time - zero);
	else
		fprintf(stderr, "%" PRIu64, time);
}

static void print_argument(char kind, uint64_t value)
{
	switch (kind) {
	case 's':
		fprintf(stderr, value ? "source %" PRIu64 : "no source", value);
		break;
	case 'w':
		fprintf(stderr, "waker %" PRIu64, value);
		break;
	case 'k':
		fprintf(stderr, "task %" PRIu64, value);
		break;
	case 'p':
		fprintf(stderr, "data %" PRIu64, value);
		break;
	case 'f':
		fprintf(stderr, "fd %d", (int)value);
		break;
	case 't':
		print_time(value, ROUSE_NULL_EPOCH);
		break;
	case 'd':
		print_time(value, 0);
		break;
	case 'e':
		print_bits(value, "RWHE");
		break;
	case 'h':
		print_bits(value, "pcdr");
		break;
	default:
		fprintf(stderr, "%d", (int)value);
	}
}

static void print_arguments(const struct event *event)
{
	const char *text = texts[event->what].arguments;
	unsigned n = 0;

	fputc('(', stderr);
	for (; *text; text++) {
		const char *end = text + strcspn(text, " ");

		fprintf(stderr, "%s%.*s", n ? ", " : "", (int)(end - 1 - text), text);
		print_argument(end[-1], event->arguments[n++]);
		text = end;
		if (!*text)
			break;
	}
	fputc(')', stderr);
}

static void print_result(const struct event *event)
{
	int result = (int)event->arguments[0];

	fprintf(stderr, "= %d", result);
	if (result < 0)
		fprintf(stderr, " (%s)", rouse_strerror(result));
	if (event->arguments[1]) {
		fprintf(stderr, ", deadline ");
		print_time(event->arguments[1], ROUSE_NULL_EPOCH);
	}
	if (event->refused)
		fprintf(stderr, ", memory refused");
}

/* `before`: the event that was printed before this one; NULL: none. */
static void print_event(const struct event *event, const struct event *before, unsigned *depth)
{
	int joined = event->what == RESULT && before && before->what < ON_TIMER;

	if ((event->what == RESULT || event->what == RETURNED) && *depth)
		--*depth;
	if (joined)
		fputc(' ', stderr);
	else
		fprintf(stderr, "%s%12" PRIu64 " %*s", before ? "\n" : "",
		        event->now ? event->now - ROUSE_NULL_EPOCH : 0, (int)*depth * 4, "");
	switch (event->what) {
	case RESULT:
		print_result(event);
		break;
	case RETURNED:
		fprintf(stderr, "}");
		if (event->arguments[0]) {
			fprintf(stderr, " returns ");
			print_time(event->arguments[0], ROUSE_NULL_EPOCH);
		}
		break;
	case COUNTED:
		fprintf(stderr, "    %s %" PRIu64, counters[event->arguments[0]],
		        event->arguments[1]);
		break;
	default:
		fputs(texts[event->what].name, stderr);
		print_arguments(event);
		if (event->what >= ON_TIMER)
			fputs(" {", stderr);
		++*depth;
	}
}

static void print_events(size_t count, unsigned *depth)
{
	if (name)
		fprintf(stderr, "%s:\n", name);
	*depth = 0;
	for (size_t i = 0; i < count; i++)
		print_event(&events[i], i ? &events[i - 1] : NULL, depth);
	fputc('\n', stderr);
}

/* ---- Written, and compared --------------------------------------------------- */

void trace_name(const char *input)
{
	name = input;
}

void trace_write(int print)
{
	written = 0;
	comparing = 0;
	printing = print;
}

void trace_compare(void)
{
	if (printing)
		fputc('\n', stderr);
	comparing = 1;
	compared = 0;
}

size_t trace_length(void)
{
	return comparing ? compared : written;
}

const struct event *trace_ahead(void)
{
	static const struct event nothing = {.what = COUNTED};

	return compared < written ? &events[compared] : &nothing;
}

void trace_dump(void)
{
	unsigned depth;

	if (!printing && written)
		print_events(written, &depth);
}

_Noreturn void trace_failed(const char *why)
{
	printing = 0;
	trace_dump();
	fprintf(stderr, "\nfuzz: %s\n", why);
	abort();
}

static _Noreturn void differs(const struct event *expected)
{
	unsigned depth, same;

	print_events(compared, &depth);
	same = depth;
	fprintf(stderr, "\nfuzz: here the library and the model differ.  The library:\n");
	if (compared < written)
		print_event(&events[compared], NULL, &depth);
	else
		fprintf(stderr, "    nothing more");
	fprintf(stderr, "\nThe model:\n");
	if (expected)
		print_event(expected, NULL, &same);
	else
		fprintf(stderr, "    nothing more");
	fputc('\n', stderr);
	abort();
}

static int same(const struct event *a, const struct event *b)
{
	return a->what == b->what && a->left == b->left && a->now == b->now &&
	       !memcmp(a->arguments, b->arguments, sizeof a->arguments);
}

void trace_event(struct event event)
{
	static unsigned depth;

	if (comparing) {
		if (compared == written || !same(&events[compared], &event))
			differs(&event);
		compared++;
		return;
	}
	if (written == MOST)
		trace_failed("it does not come to an end");
	if (printing) {
		if (!written)
			depth = 0;
		print_event(&event, written ? &events[written - 1] : NULL, &depth);
	}
	events[written++] = event;
}

void trace_end(void)
{
	if (compared != written)
		differs(NULL);
}
