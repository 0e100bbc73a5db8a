/*
 * The document is written, read back by the same library and held against its schema: these
 * keys, no others, of these types.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "bench/json.h"
#include "json.h"
#include "known.h"

static json_t *write_and_read(const json_t *document)
{
	FILE *file = tmpfile();
	json_error_t error;
	json_t *read;

	assert_non_null(file);
	assert_int_equal(json_write(document, file), 0);
	rewind(file);
	read = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	fclose(file);
	assert_non_null(read);
	return read;
}

/* All reals are microseconds with three places: exact nanoseconds. */
static void assert_us(const json_t *object, const char *key, uint64_t ns)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_real(value));
	assert_true(json_real_value(value) == (double)ns / 1e3);
}

static json_t *measured(size_t n, size_t frames)
{
	static const struct machine machine = {.kernel = "Linux 6.1.0 x86_64",
	                                       .processor = "A \"quoted\" one",
	                                       .clock_source = "tsc",
	                                       .cpus = 2,
	                                       .load = {0.5, 0.25, 0.125}};
	static const struct options options = {
	        .rate = 10, .fd_rate = 7, .busy_us = 5000, .load = 2};
	json_t *document = json_document(&machine, &options), *read;
	struct run run;
	struct result r;

	known_open(&run, &mech_eventfd, n + 1);
	for (size_t i = 0; i < n; i++) {
		known_fire(&run);
		known_pass(&run, (i + 1) * 1001);
		known_serve(&run);
	}
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	r.has_frames = frames > 0;
	r.frames = frames;
	r.library = frames > 0 ? "Lib 1.2.3" : "";
	assert_int_equal(json_add_run(document, &r), 0);
	assert_int_equal(json_set_server(document, &display_x11, "The Vendor 12101007"), 0);
	assert_int_equal(json_set_server(document, &display_wayland, "weston 10.0.1"), 0);
	result_release(&r);
	run_release(&run);
	read = write_and_read(document);
	json_decref(document);
	return read;
}

static void test_schema(void **state)
{
	json_t *document = measured(400, 1800);
	const json_t *run = json_array_get(json_object_get(document, "runs"), 0);
	const json_t *m = json_array_get(json_object_get(run, "mechanisms"), 0);
	const char *kernel, *processor, *clock, *server, *loop, *library, *name;
	json_t *p50_ci, *p99_ci, *samples;
	const char *compositor;
	int rate, fd_rate, busy, clients, schema, cpus, seconds, n, lost, coalesced, hz, ticks,
	        missed, frames;
	double load[3];

	(void)state;
	/* '!' at the end of an object: no further keys. */
	assert_int_equal(
	        json_unpack(document,
	                    "{s:i, s:{s:s, s:s, s:s, s:i, s:[F,F,F!], s:s, s:s !}, s:{s:i, "
	                    "s:i, s:i, s:i !}, s:[o!] !}",
	                    "schema", &schema, "machine", "kernel", &kernel, "processor",
	                    &processor, "clock_source", &clock, "cpus", &cpus, "load", &load[0],
	                    &load[1], &load[2], "x_server", &server, "compositor", &compositor,
	                    "options", "rate", &rate, "fd_rate", &fd_rate, "busy_us", &busy, "load",
	                    &clients, "runs", &samples),
	        0);
	assert_int_equal(schema, 1);
	assert_true(rate == 10 && fd_rate == 7 && busy == 5000 && clients == 2);
	assert_string_equal(processor, "A \"quoted\" one");
	assert_string_equal(server, "The Vendor 12101007");
	assert_string_equal(compositor, "weston 10.0.1");
	assert_true(load[0] == 0.5 && load[1] == 0.25 && load[2] == 0.125);
	assert_int_equal(json_unpack((json_t *)run,
	                             "{s:s, s:s, s:i, s:[o!], s:{s:i, s:i, s:i !}, s:i !}", "loop",
	                             &loop, "library", &library, "seconds", &seconds, "mechanisms",
	                             &samples, "ticks", "hz", &hz, "n", &ticks, "missed", &missed,
	                             "frames", &frames),
	                 0);
	assert_string_equal(loop, "epoll");
	assert_string_equal(library, "Lib 1.2.3");
	assert_int_equal(seconds, 30);
	assert_true(hz == 7 && ticks == 210 && missed == 2 && frames == 1800);
	assert_int_equal(json_object_size(m), 13);
	assert_int_equal(json_unpack((json_t *)m, "{s:s, s:i, s:i, s:i, s:o, s:o, s:o}", "name",
	                             &name, "n", &n, "lost", &lost, "coalesced", &coalesced,
	                             "p50_ci_us", &p50_ci, "p99_ci_us", &p99_ci, "samples_us",
	                             &samples),
	                 0);
	assert_string_equal(name, "eventfd");
	assert_true(n == 400 && lost == 0 && coalesced == 0);
	/* 399 samples of (i + 1) * 1.001 us, i from 1. */
	assert_us(m, "cold_us", 1001);
	assert_us(m, "min_us", 2 * 1001);
	assert_us(m, "p50_us", 201 * 1001);
	assert_us(m, "p90_us", 361 * 1001);
	assert_us(m, "p99_us", 397 * 1001);
	assert_us(m, "max_us", 400 * 1001);
	assert_int_equal(json_array_size(p50_ci), 2);
	assert_int_equal(json_array_size(p99_ci), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(json_is_real(json_array_get(p50_ci, i)));
		assert_true(json_is_real(json_array_get(p99_ci, i)));
	}
	assert_int_equal(json_array_size(samples), 399);
	for (size_t i = 0; i < 399; i++)
		assert_true(json_real_value(json_array_get(samples, i)) ==
		            (double)((i + 2) * 1001) / 1e3);
	json_decref(document);
}

/* What does not exist is null, and never a number that looks like one. */
static void test_nulls(void **state)
{
	static const char *const keys[] = {"cold_us", "min_us", "p50_us",
	                                   "p90_us",  "p99_us", "max_us"};

	(void)state;
	for (size_t n = 0; n <= 2; n++) {
		json_t *document = measured(n, 0);
		const json_t *run = json_array_get(json_object_get(document, "runs"), 0);
		const json_t *m = json_array_get(json_object_get(run, "mechanisms"), 0);
		const json_t *ci = json_object_get(m, "p99_ci_us");

		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
			bool exists = i == 0 ? n > 0 : n > 1;
			const json_t *value = json_object_get(m, keys[i]);

			assert_true(exists ? json_is_real(value) : json_is_null(value));
		}
		assert_true(json_is_null(json_object_get(run, "frames")));
		assert_true(json_is_null(json_object_get(run, "library")));
		assert_int_equal(json_array_size(ci), 2);
		/* One sample lies below p99 with 99 %: a lower bound it has. */
		assert_true(n > 1 ? json_is_real(json_array_get(ci, 0))
		                  : json_is_null(json_array_get(ci, 0)));
		assert_true(json_is_null(json_array_get(ci, 1)));
		assert_int_equal(json_array_size(json_object_get(m, "samples_us")),
		                 n > 1 ? n - 1 : 0);
		json_decref(document);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_schema),
	        cmocka_unit_test(test_nulls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
