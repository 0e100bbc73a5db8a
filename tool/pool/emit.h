/*
 * What a pool around each emit is to be compared with: a key event through XTEST, into a private
 * server, where nobody can be disturbed by it.
 */
#ifndef ROUSE_TOOL_POOL_EMIT_H
#define ROUSE_TOOL_POOL_EMIT_H

#include <stddef.h>

struct pool_emitter;

/* NULL, or why there are no emits here. */
const char *pool_emit_missing(void);
/* Starts the server; main thread only.  NULL after one line of complaint. */
struct pool_emitter *pool_emit_open(void);
/* NULL is allowed. */
void pool_emit_close(struct pool_emitter *emitter);
/* Vendor and release. */
void pool_emit_server(const struct pool_emitter *emitter, char *text, size_t size);

/*
 * `n` emits of each kind, in nanoseconds of the clock: until the event was written to the server,
 * which is idle then, and until the server has answered.  0, or -1: the server went away.
 */
int pool_emit_burst(struct pool_emitter *emitter, double *flushed, double *answered, unsigned n);

#endif
