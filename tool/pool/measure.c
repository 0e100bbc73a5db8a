#include "pool/measure.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

#include <rouse/pool.h>

#include "interrupt.h"
#include "pool/objects.h"
#include "pool/rows.h"

enum { EMPTIES = 1000000, EMITS = 100 };

static const struct pool_rows *const forms[POOL_FORMS] = {&pool_rows_called, &pool_rows_inlined};

/* One for each round. */
struct row {
	double value[POOL_MOST_ROUNDS];
};

struct pool_measure {
	const struct pool_options *options;
	struct pool_emitter *emitter;
	unsigned rounds;
	struct row empty[POOL_FORMS], array[POOL_BATCHES], posts[POOL_FORMS][POOL_BATCHES];
	/* One for each emit. */
	double flushed[POOL_MOST_ROUNDS * EMITS], answered[POOL_MOST_ROUNDS * EMITS];
	double scratch[POOL_MOST_ROUNDS * EMITS];
};

struct pool_measure *pool_measure_open(const struct pool_options *options,
                                       struct pool_emitter *emitter)
{
	struct pool_measure *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->options = options;
	m->emitter = emitter;
#ifdef M_TRIM_THRESHOLD
	/* A row whose last free() gives the heap's end back to the system would measure that. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
	return m;
}

void pool_measure_close(struct pool_measure *m)
{
	free(m);
}

/* ---- Rows ------------------------------------------------------------------------------- */

/* This thread's alone: not what other programs take from the processor. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void array_posts(unsigned posts, unsigned batch)
{
	static void *array[2 * POOL_MOST_BATCH];

	while (posts > 0) {
		unsigned used = 0;

		for (unsigned i = 0; i < batch && posts > 0; i++, posts--) {
			array[used++] = malloc(POOL_OBJECT);
			array[used++] = malloc(POOL_OBJECT);
		}
		while (used > 0)
			free(array[--used]);
	}
}

static void measure_empty(struct pool_measure *m)
{
	for (int f = 0; f < POOL_FORMS; f++) {
		double start = now();

		forms[f]->empty(EMPTIES);
		m->empty[f].value[m->rounds] = (now() - start) / EMPTIES;
	}
}

static void measure_posts(struct pool_measure *m, int b)
{
	/* None always comes after the same other one. */
	enum { ARRAY = POOL_FORMS, ALL };
	static const unsigned char orders[][ALL] = {
	        {ARRAY, POOL_CALLED, POOL_INLINED}, {POOL_INLINED, POOL_CALLED, ARRAY},
	        {POOL_CALLED, ARRAY, POOL_INLINED}, {POOL_INLINED, ARRAY, POOL_CALLED},
	        {POOL_CALLED, POOL_INLINED, ARRAY}, {ARRAY, POOL_INLINED, POOL_CALLED},
	};
	const unsigned char *order = orders[m->rounds % (sizeof orders / sizeof *orders)];
	unsigned posts = m->options->posts, batch = pool_batches[b];

	/* Not the change from one batch to the next. */
	array_posts(2 * batch, batch);
	for (unsigned turn = 0; turn < ALL && !interrupt_caught(); turn++) {
		unsigned which = order[turn];
		struct row *row = which == ARRAY ? &m->array[b] : &m->posts[which][b];
		double start = now();

		if (which == ARRAY)
			array_posts(posts, batch);
		else
			forms[which]->posts(posts, batch);
		row->value[m->rounds] = (now() - start) / posts;
	}
}

int pool_measure_round(struct pool_measure *m)
{
	size_t emits = (size_t)m->rounds * EMITS;

	measure_empty(m);
	for (int b = 0; b < POOL_BATCHES && !interrupt_caught(); b++)
		measure_posts(m, b);
	if (interrupt_caught())
		return -1;
	if (m->emitter &&
	    pool_emit_burst(m->emitter, m->flushed + emits, m->answered + emits, EMITS) < 0)
		return -1;
	m->rounds++;
	return 0;
}

/* ---- What they hold ------------------------------------------------------------------------ */

void pool_measure_held(struct pool_result *r)
{
	for (int b = 0; b < POOL_BATCHES; b++) {
		struct pool_census before, after;

		rouse_pool_trim();
		pool_census_begin();
		before = pool_census();
		for (int f = 0; f < POOL_FORMS; f++)
			forms[f]->counted(2 * pool_batches[b], pool_batches[b]);
		after = pool_census();
		r->held[b] =
		        (struct pool_held){after.peak_bytes - before.peak_bytes, after.own_bytes};
		r->left += after.live - before.live;
	}
	rouse_pool_trim();
}

/* ---- Figures -------------------------------------------------------------------------------- */

void pool_measure_figures(struct pool_measure *m, struct pool_result *r)
{
	size_t n = m->rounds, emits = m->emitter ? n * EMITS : 0;

	r->rounds = m->rounds;
	r->inlined = pool_rows_inlined.available;
	r->flushed = figure_of(m->flushed, NULL, emits, m->scratch);
	r->answered = figure_of(m->answered, NULL, emits, m->scratch);
	for (int b = 0; b < POOL_BATCHES; b++)
		r->array[b] = figure_of(m->array[b].value, NULL, n, m->scratch);
	for (int f = 0; f < POOL_FORMS; f++) {
		if (!forms[f]->available)
			continue;
		r->empty[f] = figure_of(m->empty[f].value, NULL, n, m->scratch);
		for (int b = 0; b < POOL_BATCHES; b++) {
			const double *posts = m->posts[f][b].value;

			r->posts[f][b] = figure_of(posts, NULL, n, m->scratch);
			r->over[f][b] = figure_of(posts, m->array[b].value, n, m->scratch);
		}
	}
}
