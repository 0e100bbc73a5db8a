/* Which counts mean that an object was lost, and the document against its schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "pool/json.h"
#include "pool/objects.h"
#include "pool/result.h"

static struct pool_result healthy(void)
{
	struct pool_result r = {
	        .live = {.autoreleases = 7, .live = {7, 7, 0, 7, 0}, .missing = {7, 7}},
	};

	return r;
}

static void test_every_count_that_is_off_is_a_loss(void **state)
{
	struct pool_result r = healthy();

	(void)state;
	assert_false(pool_result_has_lost(&r));
	for (int i = 0; i < POOL_MOMENTS; i++) {
		for (int by = -1; by <= 1; by += 2) {
			r = healthy();
			r.live.live[i] += (size_t)by;
			assert_true(pool_result_has_lost(&r));
		}
	}
	for (int i = 0; i < 2; i++) {
		r = healthy();
		r.live.missing[i]--;
		assert_true(pool_result_has_lost(&r));
	}
	r = healthy();
	r.left = 1;
	assert_true(pool_result_has_lost(&r));
}

static void test_the_census_counts_each_object(void **state)
{
	void *object[3];
	struct pool_census census;

	(void)state;
	pool_census_begin();
	for (int i = 0; i < 3; i++)
		assert_non_null(object[i] = pool_object_make());
	pool_object_release(object[0]);
	pool_object_release(NULL);
	census = pool_census();
	assert_int_equal(census.live, 2);
	assert_int_equal(census.peak, 3);
	assert_int_equal(census.peak_bytes, 3 * 287);
	pool_census_begin();
	assert_int_equal(pool_census().peak, 2);
	pool_object_release(object[1]);
	pool_object_release(object[2]);
	assert_int_equal(pool_census().live, 0);
}

static struct figure figure(double base)
{
	return (struct figure){3, base - 0.1234567, base, base + 0.5};
}

static void assert_figure(const json_t *object, const char *key, double base)
{
	double low, median, high;

	assert_int_equal(json_unpack((json_t *)object, "{s: {s: F, s: [F, F!] !}}", key, "median",
	                             &median, "quartiles", &low, &high),
	                 0);
	assert_true(median == base && high == base + 0.5);
	/* Whole picoseconds. */
	assert_true(low > base - 0.1235 && low < base - 0.1229);
}

static void test_schema(void **state)
{
	static const struct machine machine = {.kernel = "Linux", .cpus = 2};
	static const struct pool_options options = {.posts = 5000, .rounds = 9};
	struct pool_result r = healthy();
	const json_t *posts, *second, *empty, *emit, *described;
	json_t *document, *kept;
	const char *text;
	int n;

	(void)state;
	r.rounds = 3;
	r.inlined = true;
	r.empty[POOL_CALLED] = figure(4);
	r.empty[POOL_INLINED] = figure(1);
	r.array[1] = figure(28);
	r.posts[POOL_CALLED][1] = figure(34);
	r.over[POOL_CALLED][1] = figure(6);
	r.posts[POOL_INLINED][1] = figure(30);
	r.over[POOL_INLINED][1] = figure(2);
	r.held[1] = (struct pool_held){4592, 4096};
	r.flushed = figure(5000);
	r.answered = figure(30000);
	document = pool_json(&machine, &options, &r);
	assert_non_null(document);
	assert_int_equal(json_integer_value(json_object_get(document, "rounds")), 3);
	assert_int_equal(
	        json_unpack(document, "{s: {s: i, s: i !}}", "options", "posts", &n, "rounds", &n),
	        0);
	assert_int_equal(n, 9);
	described = json_object_get(document, "machine");
	assert_int_equal(json_object_size(described), 7);
	assert_true(json_is_null(json_object_get(described, "x_server")));
	assert_true(json_is_null(json_object_get(described, "compositor")));
	posts = json_object_get(document, "posts");
	assert_int_equal(json_array_size(posts), POOL_BATCHES);
	second = json_array_get(posts, 1);
	assert_figure(second, "array_ns", 28);
	assert_figure(second, "called_ns", 34);
	assert_figure(second, "called_over_array_ns", 6);
	assert_figure(second, "inlined_ns", 30);
	assert_figure(second, "inlined_over_array_ns", 2);
	assert_int_equal(json_integer_value(json_object_get(second, "posts_per_pool")), 8);
	assert_int_equal(json_integer_value(json_object_get(second, "garbage_bytes")), 4592);
	assert_int_equal(json_integer_value(json_object_get(second, "own_bytes")), 4096);
	assert_true(json_is_null(json_object_get(json_array_get(posts, 0), "array_ns")));
	empty = json_object_get(document, "empty");
	assert_figure(empty, "called_ns", 4);
	assert_figure(empty, "inlined_ns", 1);
	emit = json_object_get(document, "emit");
	assert_figure(emit, "flushed_ns", 5000);
	assert_figure(emit, "answered_ns", 30000);
	assert_true(json_is_null(json_object_get(emit, "left_out")));
	/* These keys, no others. */
	assert_int_equal(json_unpack(document,
	                             "{s: i, s: s, s: o, s: o, s: i, s: o, s: o, s: i, s: o, s: o,"
	                             " s: s !}",
	                             "schema", &n, "command", &text, "machine", &kept, "options",
	                             &kept, "rounds", &n, "no_pool", &kept, "posts", &kept,
	                             "outlived", &n, "empty", &kept, "emit", &kept, "theirs",
	                             &text),
	                 0);
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_count_that_is_off_is_a_loss),
	        cmocka_unit_test(test_the_census_counts_each_object),
	        cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
