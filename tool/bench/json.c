#include "bench/json.h"

#include "../json.h"

static json_t *us(uint64_t ns)
{
	return json_real((double)ns / 1e3);
}

/* Null where there is nothing: no sample, no bound, no fact. */
static json_t *us_if(bool exists, uint64_t ns)
{
	return exists ? us(ns) : json_null();
}

static json_t *interval(const struct interval *i)
{
	return json_pack("[o, o]", us_if(i->has_lower, i->lower), us_if(i->has_upper, i->upper));
}

json_t *json_document(const struct machine *m, const struct options *o)
{
	return json_pack("{s: i, s: o, s: {s: i, s: i, s: i, s: i}, s: []}", "schema", 1, "machine",
	                 json_machine(m), "options", "rate", (int)o->rate, "fd_rate",
	                 (int)o->fd_rate, "busy_us", (int)o->busy_us, "load", (int)o->load, "runs");
}

int json_set_server(json_t *document, const struct display_ops *display, const char *server)
{
	const char *key = display->x11 ? "x_server" : "compositor";

	return json_object_set_new(json_object_get(document, "machine"), key, json_string(server));
}

/* In the order they were fired, which is that of the answers; the cold one is apart. */
static json_t *samples(const struct mech_result *m)
{
	json_t *list = json_array();

	for (size_t i = 1; list && i < m->n; i++) {
		if (json_array_append_new(list, us(m->meter->latency[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *mechanism(const struct mech_result *m)
{
	const struct summary *s = &m->summary;
	bool any = s->n > 0;

	return json_pack(
	        "{s: s, s: I, s: I, s: I, s: o, s: o, s: o, s: o, s: o, s: o, s: o, s: o,"
	        " s: o}",
	        "name", m->name, "n", (json_int_t)m->n, "lost", (json_int_t)m->lost, "coalesced",
	        (json_int_t)m->coalesced, "cold_us", us_if(s->has_cold, s->cold), "min_us",
	        us_if(any, s->min), "p50_us", us_if(any, s->p50), "p50_ci_us", interval(&s->p50_ci),
	        "p90_us", us_if(any, s->p90), "p99_us", us_if(any, s->p99), "p99_ci_us",
	        interval(&s->p99_ci), "max_us", us_if(any, s->max), "samples_us", samples(m));
}

int json_add_run(json_t *document, const struct result *r)
{
	json_t *mechanisms = json_array(), *run;
	json_t *seconds =
	        r->cut_short ? json_real(r->seconds) : json_integer((json_int_t)r->seconds);

	for (size_t i = 0; i < r->mechs; i++) {
		if (json_array_append_new(mechanisms, mechanism(&r->mech[i])) < 0) {
			json_decref(mechanisms);
			json_decref(seconds);
			return -1;
		}
	}
	run = json_pack("{s: s, s: o, s: o, s: o, s: {s: i, s: I, s: I}, s: o}", "loop", r->loop,
	                "library", r->library[0] ? json_string(r->library) : json_null(), "seconds",
	                seconds, "mechanisms", mechanisms, "ticks", "hz", (int)r->ticks.hz, "n",
	                (json_int_t)r->ticks.n, "missed", (json_int_t)r->ticks.missed, "frames",
	                r->has_frames ? json_integer((json_int_t)r->frames) : json_null());
	return json_array_append_new(json_object_get(document, "runs"), run);
}
