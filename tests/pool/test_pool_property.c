/*
 * Random operations, from release functions too, against a plain list.
 *
 * The list is the stack as the header describes it, one item after the other: a pool, or a pending
 * release.  The library says when it releases which object; that must be the list's last one, but
 * for pools above it, which are then skipped.
 */
#include "pool_test.h"

/* Bridged (tests/objc), each pool begins with an object in the Objective-C runtime's. */
#ifdef BRIDGED
#include "../objc/objects.h"

static int bridge(void)
{
	return objects_begin() && rouse_pool_bridge_objc() == 0;
}

static void their_add(void)
{
	object_autorelease(object_new(NULL, NULL));
}
#else
#define BRIDGED 0

static int bridge(void)
{
	return 1;
}

static void their_add(void)
{
}

static int objects_alive(void)
{
	return 0;
}
#endif

enum { DEEPEST = 5, NAMES = 400 };

struct item {
	uint64_t token; /* 0: a release */
	uintptr_t id;
	int draining;
};

static struct item *items;
static size_t used, room;
static uintptr_t last_id;
static uint64_t skipped, stale, released, missing;
static int own_drain;         /* of what belongs to no pool: nothing is missing one */
static uint64_t names[NAMES]; /* of pools, open or not */
static unsigned named;
static unsigned depth;
static size_t *own_released; /* by the innermost drain */
static struct {
	rouse_pool_stack *stack;
	struct item *items;
	size_t count;
} detached[4];

static uint64_t seed;

static unsigned random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 11) % n);
}

/* ---- The list ------------------------------------------------------------------------ */

static void insert_at(size_t at, struct item item)
{
	if (used == room) {
		room = room ? room * 2 : 64;
		items = realloc(items, room * sizeof *items);
		EXPECT(items);
	}
	memmove(items + at + 1, items + at, (used - at) * sizeof *items);
	items[at] = item;
	used++;
}

static size_t where(uint64_t token)
{
	size_t at = used;

	while (at-- > 0)
		if (items[at].token == token)
			return at;
	return SIZE_MAX;
}

static size_t newest(void)
{
	size_t at = used;

	while (at-- > 0)
		if (items[at].token)
			return at;
	return SIZE_MAX;
}

static size_t releases_from(size_t at)
{
	size_t n = 0;

	for (; at < used; at++)
		n += !items[at].token;
	return n;
}

/* What lies above must be pools alone. */
static void skip_down_to(size_t at)
{
	while (used > at) {
		EXPECT(items[used - 1].token);
		used--;
		skipped++;
	}
}

/* ---- Operations ------------------------------------------------------------------------- */

static void operate(void);

static void release(void *object)
{
	while (used && items[used - 1].token)
		skip_down_to(used - 1);
	EXPECT(used && items[used - 1].id == (uintptr_t)object);
	used--;
	released++;
	++*own_released;
	if (depth < DEEPEST && random_below(20) == 0) {
		unsigned n = random_below(4);

		depth++;
		while (n-- > 0)
			operate();
		depth--;
	}
}

static void push(void)
{
	rouse_pool pool = rouse_pool_push();

	EXPECT(pool.token && where(pool.token) == SIZE_MAX);
	insert_at(used, (struct item){.token = pool.token});
	names[named++ % NAMES] = pool.token;
	their_add();
}

static void add(unsigned n)
{
	if (newest() == SIZE_MAX && !own_drain)
		missing += n;
	while (n-- > 0) {
		void *object = (void *)++last_id;

		insert_at(used, (struct item){.id = last_id});
		EXPECT(rouse_autorelease(object, release) == object);
	}
}

/* Mostly one of the newest. */
static rouse_pool some_name(void)
{
	rouse_pool pool = {0};
	unsigned span = random_below(4) ? 6 : NAMES;

	if (named)
		pool.token = names[(named - 1 - random_below(named < span ? named : span)) % NAMES];
	return pool;
}

static void pop(void)
{
	rouse_pool pool = some_name();
	size_t at = where(pool.token), mine = 0, *outer = own_released;
	int result;

	if (!pool.token)
		return;
	if (at == SIZE_MAX) {
		EXPECT(rouse_pool_pop(pool) == ROUSE_ESTALE);
		stale++;
		return;
	}
	items[at].draining = 1;
	own_released = &mine;
	result = rouse_pool_pop(pool);
	own_released = outer;
	EXPECT(result >= 0);
	at = where(pool.token);
	if (at == SIZE_MAX)
		return;
	skip_down_to(at + 1);
	used--;
}

static void add_to(void)
{
	rouse_pool pool = some_name();
	size_t at = where(pool.token);
	int result;

	if (!pool.token)
		return;
	result = rouse_autorelease_to(pool, (void *)++last_id, release);
	EXPECT(result == (at == SIZE_MAX ? ROUSE_ESTALE : 0));
	if (result) {
		stale++;
		return;
	}
	for (at++; at < used && !items[at].token;)
		at++;
	insert_at(at, (struct item){.id = last_id});
}

static void drain_some(void)
{
	size_t at = newest(), most = random_below(30), mine = 0, *outer = own_released, left;
	uint64_t token = at == SIZE_MAX ? 0 : items[at].token;
	int before = 0;

	if (token) {
		before = items[at].draining;
		items[at].draining = 1;
	}
	own_released = &mine;
	own_drain += !token;
	left = rouse_pool_drain_some(most);
	own_drain -= !token;
	own_released = outer;
	EXPECT(mine <= most);
	if (!token) {
		if (mine < most)
			skip_down_to(0);
		for (at = 0; at < used && !items[at].token;)
			at++;
		EXPECT(left == at);
		return;
	}
	at = where(token);
	if (at != SIZE_MAX && mine < most)
		skip_down_to(at + 1);
	EXPECT(left == (at == SIZE_MAX ? 0 : releases_from(at)));
	if (at != SIZE_MAX)
		items[at].draining = before;
}

static void drain_thread(void)
{
	size_t mine = 0, *outer = own_released;

	own_released = &mine;
	own_drain++;
	EXPECT(rouse_pool_drain_thread() == mine);
	own_drain--;
	own_released = outer;
	skip_down_to(0);
}

static void detach(void)
{
	rouse_pool pool = some_name();
	size_t at = where(pool.token);
	unsigned slot = random_below(COUNT(detached));
	int busy = 0, result;

	if (!pool.token || detached[slot].stack)
		return;
	for (size_t i = at; i < used; i++)
		busy |= items[i].draining;
	result = rouse_pool_detach(pool, &detached[slot].stack);
	if (at == SIZE_MAX) {
		EXPECT(result == ROUSE_ESTALE);
		stale++;
		return;
	}
	EXPECT(result == (busy ? ROUSE_EBUSY : BRIDGED ? ROUSE_ENOTSUP : 0));
	if (result)
		return;
	detached[slot].count = used - at;
	detached[slot].items = malloc((used - at) * sizeof *items);
	EXPECT(detached[slot].items);
	memcpy(detached[slot].items, items + at, (used - at) * sizeof *items);
	used = at;
}

static void attach(void)
{
	unsigned slot = random_below(COUNT(detached));

	if (!detached[slot].stack)
		return;
	EXPECT(rouse_pool_attach(detached[slot].stack) == 0);
	for (size_t i = 0; i < detached[slot].count; i++)
		insert_at(used, detached[slot].items[i]);
	free(detached[slot].items);
	detached[slot].stack = NULL;
}

static void look(void)
{
	rouse_pool_stats stats = thread_stats();

	EXPECT(stats.live == releases_from(0));
	EXPECT(stats.peak >= stats.live);
	EXPECT(stats.stale == stale);
	EXPECT(stats.missing == missing);
	if (depth)
		return;
	EXPECT(stats.skipped == skipped);
	EXPECT(stats.released == released);
}

/* Enough to come to all sides of a chunk's end: the first holds some 250, the next some 1020. */
static unsigned many(void)
{
	return random_below(2) ? 235 + random_below(30) : 1000 + random_below(40);
}

static void operate(void)
{
	unsigned what = random_below(100);

	if (what < 25)
		push();
	else if (what < 45)
		add(1 + random_below(4));
	else if (what < 48)
		add(used < 6000 ? many() : 1);
	else if (what < 70)
		pop();
	else if (what < 80)
		add_to();
	else if (what < 85)
		drain_some();
	else if (what < 90)
		detach();
	else if (what < 95)
		attach();
	else if (what < 97)
		look();
	else if (what < 98)
		rouse_pool_trim();
	else if (what < 99 && random_below(10) == 0)
		drain_thread();
	else if (random_below(10) == 0)
		rouse_pool_set_limits(0, random_below(2) ? UINT64_C(1) << 62 : 0);
}

static void play(void)
{
	size_t mine = 0;

	used = 0;
	last_id = 0;
	named = 0;
	skipped = stale = released = missing = 0;
	own_released = &mine;
	for (int i = 0; i < 300; i++)
		operate();
	for (unsigned slot = 0; slot < COUNT(detached); slot++)
		for (int i = 0; i < 20 && detached[slot].stack; i++)
			attach();
	while (detached[0].stack || detached[1].stack || detached[2].stack || detached[3].stack)
		attach();
	look();
	drain_thread();
	look();
	EXPECT(thread_stats().live == 0);
	EXPECT(objects_alive() == 0);
}

static unsigned rounds = 100;

static void p6_random_operations_agree_with_a_plain_list(void **state)
{
	const char *divisor = getenv("ROUSE_TEST_DIVISOR"), *times = getenv("ROUSE_TEST_TIMES");
	const char *first = getenv("ROUSE_TEST_SEED");
	uint64_t start = first ? strtoull(first, NULL, 0) : 1;

	(void)state;
	if (divisor)
		rounds = rounds / (unsigned)atoi(divisor) + 1;
	if (times)
		rounds *= (unsigned)atoi(times);
	for (uint64_t round = start; round < start + rounds; round++) {
		seed = round * UINT64_C(0x9e3779b97f4a7c15);
		if (getenv("ROUSE_TEST_SEED"))
			fprintf(stderr, "seed %llu\n", (unsigned long long)round);
		on_a_thread(play);
		EXPECT(process_stats().live == 0);
	}
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(p6_random_operations_agree_with_a_plain_list),
	};

	if (!bridge())
		return 77;
	return cmocka_run_group_tests_name("pool_property", tests, NULL, NULL);
}
