/*
 * The result as one JSON document; docs/bench.md has its schema.
 */
#ifndef ROUSE_TOOL_JSON_H
#define ROUSE_TOOL_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "machine.h"
#include "options.h"
#include "result.h"

/* A document without runs; NULL without memory, as everywhere here. */
json_t *json_document(const struct machine *machine, const struct options *options);
/* Once the server is known.  0, or -1. */
int json_set_server(json_t *document, const char *server);
int json_add_run(json_t *document, const struct result *result);
int json_write(const json_t *document, FILE *out);

#endif
