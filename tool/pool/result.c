#include "pool/result.h"

const unsigned pool_batches[POOL_BATCHES] = {1, 8, 64, 512, 1024, POOL_MOST_BATCH};

const struct pool_theirs pool_theirs = {
        .title = "Autorelease Pools",
        .live = {[POOL_RUNNING] = 20050,
                 [POOL_POPPED] = -1,
                 [POOL_DRAINED] = -1,
                 [POOL_ENDING] = -1,
                 [POOL_ENDED] = 5},
        .post_ns = {62.3, 70.0, 66.4, 71.5, 71.2, 70.8},
        .garbage_kib = {0.6, 4.5, 35.9, 287.0, 574.0, 2296.0},
        .empty_ns = 5.2,
        .emit_ns = {5000, 10000},
};

size_t pool_live_expected(const struct pool_live *live, enum pool_moment moment)
{
	return moment == POOL_DRAINED || moment == POOL_ENDED ? 0 : live->autoreleases;
}

bool pool_result_has_lost(const struct pool_result *r)
{
	for (int i = 0; i < POOL_MOMENTS; i++)
		if (r->live.live[i] != pool_live_expected(&r->live, (enum pool_moment)i))
			return true;
	for (int i = 0; i < 2; i++)
		if (r->live.missing[i] != r->live.autoreleases)
			return true;
	return r->left > 0;
}
