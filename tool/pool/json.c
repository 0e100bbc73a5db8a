#include "pool/json.h"

#include <math.h>

#include "../json.h"

/* Picoseconds are more than the clock can tell. */
static json_t *ns(double value)
{
	return json_real(round(value * 1e3) / 1e3);
}

/* Null where nothing was measured. */
static json_t *figure(const struct figure *f)
{
	if (f->n == 0)
		return json_null();
	return json_pack("{s: o, s: [o, o]}", "median", ns(f->median), "quartiles", ns(f->low),
	                 ns(f->high));
}

static json_t *live(const struct pool_live *l)
{
	return json_pack("{s: I, s: {s: I, s: I, s: I, s: I, s: i}, s: {s: I, s: I, s: I, s: i}}",
	                 "autoreleases", (json_int_t)l->autoreleases, "running_thread", "live",
	                 (json_int_t)l->live[POOL_RUNNING], "live_after_empty_pop",
	                 (json_int_t)l->live[POOL_POPPED], "live_after_drain",
	                 (json_int_t)l->live[POOL_DRAINED], "missing", (json_int_t)l->missing[0],
	                 "theirs_nodes", pool_theirs.live[POOL_RUNNING], "ended_thread",
	                 "live_before_end", (json_int_t)l->live[POOL_ENDING], "live",
	                 (json_int_t)l->live[POOL_ENDED], "missing", (json_int_t)l->missing[1],
	                 "theirs_nodes", pool_theirs.live[POOL_ENDED]);
}

static json_t *batch(const struct pool_result *r, int b)
{
	return json_pack("{s: i, s: o, s: o, s: o, s: o, s: o, s: f, s: I, s: f, s: I}",
	                 "posts_per_pool", (int)pool_batches[b], "array_ns", figure(&r->array[b]),
	                 "called_ns", figure(&r->posts[POOL_CALLED][b]), "inlined_ns",
	                 figure(&r->posts[POOL_INLINED][b]), "called_over_array_ns",
	                 figure(&r->over[POOL_CALLED][b]), "inlined_over_array_ns",
	                 figure(&r->over[POOL_INLINED][b]), "theirs_ns", pool_theirs.post_ns[b],
	                 "garbage_bytes", (json_int_t)r->held[b].garbage, "theirs_garbage_kib",
	                 pool_theirs.garbage_kib[b], "own_bytes", (json_int_t)r->held[b].own_bytes);
}

static json_t *batches(const struct pool_result *r)
{
	json_t *list = json_array();

	for (int b = 0; list && b < POOL_BATCHES; b++) {
		if (json_array_append_new(list, batch(r, b)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *emit(const struct pool_result *r)
{
	return json_pack("{s: I, s: o, s: o, s: [i, i], s: o}", "n", (json_int_t)r->flushed.n,
	                 "flushed_ns", figure(&r->flushed), "answered_ns", figure(&r->answered),
	                 "theirs_ns", (int)pool_theirs.emit_ns[0], (int)pool_theirs.emit_ns[1],
	                 "left_out", r->no_emit ? json_string(r->no_emit) : json_null());
}

json_t *pool_json(const struct machine *m, const struct pool_options *o,
                  const struct pool_result *r)
{
	return json_pack(
	        "{s: i, s: s, s: o, s: {s: i, s: i}, s: i, s: o, s: o, s: I, s: {s: o, s: o, s: f},"
	        " s: o, s: s}",
	        "schema", 1, "command", "pool", "machine", json_machine(m), "options", "posts",
	        (int)o->posts, "rounds", (int)o->rounds, "rounds", (int)r->rounds, "no_pool",
	        live(&r->live), "posts", batches(r), "outlived", (json_int_t)r->left, "empty",
	        "called_ns", figure(&r->empty[POOL_CALLED]), "inlined_ns",
	        figure(&r->empty[POOL_INLINED]), "theirs_ns", pool_theirs.empty_ns, "emit", emit(r),
	        "theirs", pool_theirs.title);
}
