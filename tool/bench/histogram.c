#include <math.h>
#include <string.h>

#include "bench/report.h"

enum { COLUMNS = 72, LABEL = 15 };

/* The common axis: `from` to `to` microseconds, equal steps of the logarithm. */
struct axis {
	double from, to;
	size_t columns;
};

static size_t column_of(const struct axis *a, double us)
{
	double part = log(us / a->from) / log(a->to / a->from);
	double column = floor(part * (double)a->columns);

	if (column < 0)
		return 0;
	return column < (double)a->columns ? (size_t)column : a->columns - 1;
}

/* At least a decade, so that a narrow distribution looks narrow. */
static bool axis_of(const struct result *r, struct axis *a)
{
	uint64_t min = UINT64_MAX, max = 0;

	for (size_t i = 0; i < r->mechs; i++) {
		const struct summary *s = &r->mech[i].summary;

		if (s->n == 0)
			continue;
		min = s->min < min ? s->min : min;
		max = s->max > max ? s->max : max;
	}
	if (max == 0)
		return false;
	*a = (struct axis){.from = fmax((double)min / 1e3, 0.1) * 0.95,
	                   .to = fmax((double)max / 1e3, 0.1) * 1.05,
	                   .columns = COLUMNS};
	if (a->to < a->from * 10) {
		double middle = sqrt(a->from * a->to);

		a->from = middle / sqrt(10.0);
		a->to = middle * sqrt(10.0);
	}
	return true;
}

static void print_line(FILE *out, const struct axis *a, const struct mech_result *m, bool utf8)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	size_t count[COLUMNS] = {0}, highest = 0, last = 0;

	for (size_t i = 0; i < m->summary.n; i++)
		count[column_of(a, (double)m->summary.sorted[i] / 1e3)]++;
	for (size_t c = 0; c < a->columns; c++) {
		highest = count[c] > highest ? count[c] : highest;
		last = count[c] > 0 ? c : last;
	}
	fprintf(out, "  %-*s", LABEL, m->name);
	for (size_t c = 0; c <= last && highest > 0; c++) {
		/* Rounded up: one sample far out is seen. */
		size_t level = (count[c] * 8 + highest - 1) / highest;

		fputs(utf8 ? blocks[level] : ascii[level], out);
	}
	fputc('\n', out);
}

/* 1, 2 and 5 times the powers of ten, as far as they have room. */
static void print_axis(FILE *out, const struct axis *a)
{
	static const double steps[] = {1, 2, 5};
	char line[COLUMNS + 16];
	size_t free_from = 0;

	memset(line, ' ', sizeof line);
	for (double decade = 0.1; decade <= a->to; decade *= 10) {
		for (size_t i = 0; i < 3; i++) {
			double us = decade * steps[i];
			char text[16];
			size_t at, length;

			if (us < a->from || us > a->to)
				continue;
			at = column_of(a, us);
			length = (size_t)snprintf(text, sizeof text, "|%g", us);
			if (at < free_from || at + length >= sizeof line)
				continue;
			memcpy(line + at, text, length);
			free_from = at + length + 1;
		}
	}
	while (free_from > 0 && line[free_from - 1] == ' ')
		free_from--;
	fprintf(out, "  %-*s%.*s\n", LABEL, "us, log scale", (int)free_from, line);
}

void histogram_print(FILE *out, const struct result *r, bool utf8)
{
	struct axis axis;

	if (!axis_of(r, &axis))
		return;
	for (size_t i = 0; i < r->mechs; i++)
		print_line(out, &axis, &r->mech[i], utf8);
	print_axis(out, &axis);
}
