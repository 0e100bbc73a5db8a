/*
 * The result of `rouse pool` for people: tables of 80 columns, the published figures beside ours.
 */
#ifndef ROUSE_TOOL_POOL_REPORT_H
#define ROUSE_TOOL_POOL_REPORT_H

#include <stdio.h>

#include "machine.h"
#include "pool/options.h"
#include "pool/result.h"

void pool_report_head(FILE *out, const struct pool_options *options, const struct machine *m);
void pool_report_live(FILE *out, const struct pool_live *live);
/* Everything that was timed, and what was lost. */
void pool_report_rounds(FILE *out, const struct pool_options *options,
                        const struct pool_result *result);

#endif
