/*
 * What the JSON documents of all subcommands share.
 */
#ifndef ROUSE_TOOL_JSON_H
#define ROUSE_TOOL_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "machine.h"

/* NULL without memory. */
json_t *json_machine(const struct machine *machine);
/* 0, or -1. */
int json_write(const json_t *document, FILE *out);
/* Writes the document to what --json named, and lets both go; a reader that left is no failure.
 * 0, or -1 after one line of complaint. */
int json_finish(json_t *document, FILE *out, const char *name);

#endif
