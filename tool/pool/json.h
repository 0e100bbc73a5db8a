/*
 * The result of `rouse pool` as one JSON document; docs/pools.md has its schema.
 */
#ifndef ROUSE_TOOL_POOL_JSON_H
#define ROUSE_TOOL_POOL_JSON_H

#include <jansson.h>

#include "machine.h"
#include "pool/options.h"
#include "pool/result.h"

/* NULL without memory. */
json_t *pool_json(const struct machine *machine, const struct pool_options *options,
                  const struct pool_result *result);

#endif
