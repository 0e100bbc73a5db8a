/*
 * In place of pool/emit.c, in a build without XTEST: none of the rest is called.
 */
#include "pool/emit.h"

const char *pool_emit_missing(void)
{
	return "this build has no XTEST (install libx11-dev libxtst-dev)";
}

struct pool_emitter *pool_emit_open(void)
{
	return NULL;
}

void pool_emit_close(struct pool_emitter *emitter)
{
	(void)emitter;
}

void pool_emit_server(const struct pool_emitter *emitter, char *text, size_t size)
{
	(void)emitter;
	if (size > 0)
		text[0] = '\0';
}

int pool_emit_burst(struct pool_emitter *emitter, double *flushed, double *answered, unsigned n)
{
	(void)emitter;
	(void)flushed;
	(void)answered;
	(void)n;
	return -1;
}
