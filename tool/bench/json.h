/*
 * The results of `rouse bench` as one JSON document; docs/bench.md has its schema.
 */
#ifndef ROUSE_TOOL_BENCH_JSON_H
#define ROUSE_TOOL_BENCH_JSON_H

#include <jansson.h>

#include "bench/options.h"
#include "bench/result.h"
#include "machine.h"

/* A document without runs; NULL without memory. */
json_t *json_document(const struct machine *machine, const struct options *options);
/* Once the server is known.  0, or -1. */
int json_set_server(json_t *document, const struct display_ops *display, const char *server);
int json_add_run(json_t *document, const struct result *result);

#endif
