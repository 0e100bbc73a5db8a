/* Posts that are taken back while something is under way: a callback, a cancel function, the loop's
 * end, posts of other threads. */
#include "journal.h"

#include <pthread.h>
#include <string.h>

/* ---- In callbacks and in cancel functions ------------------------------------------- */

static void cancel_a(rouse_loop *loop, void *data)
{
	(void)loop;
	write_down('(');
	assert_int_equal(cancel('a'), *(int *)data);
	write_down(')');
}

static void in_a_callback_of_the_same_batch(void **state)
{
	int count = 3;

	begin(state, 0);
	post_all("ab");
	assert_int_equal(rouse_post(j.remote, cancel_a, &count, NULL), 0);
	post_all("aabac");
	ENV_UNTIL(j.env, j.length >= 9);
	expect("ab(AAA)bc");
}

static void cancel_its_own(rouse_loop *loop, void *data)
{
	/* Runs, so it is queued no more. */
	run_letter(loop, data);
	assert_int_equal(rouse_cancel_posts(loop, data), 1);
	assert_int_equal(rouse_cancel_posts(loop, data), 0);
}

static void a_post_that_runs_is_not_queued(void **state)
{
	begin(state, 0);
	assert_int_equal(rouse_post(j.remote, cancel_its_own, of('a'), cancel_letter), 0);
	post('a');
	ENV_UNTIL(j.env, j.length);
	expect("aA");
}

static void post_again(void *data)
{
	cancel_letter(data);
	post('a');
	post('b');
}

static void what_a_cancel_function_posts_stays(void **state)
{
	begin(state, 0);
	assert_int_equal(rouse_post(j.remote, run_letter, of('a'), post_again), 0);
	post('a');
	assert_int_equal(cancel('a'), 2);
	assert_string_equal(j.text, "AA");
	ENV_UNTIL(j.env, j.length >= 4);
	expect("AAab");
}

static int nested_counts;

static void cancel_both(void *data)
{
	int count;

	cancel_letter(data);
	count = cancel('a');
	assert_true(count >= 0);
	nested_counts += count;
	count = cancel('b');
	assert_true(count >= 0);
	nested_counts += count;
}

static void a_cancel_function_cancels_more(void **state)
{
	int count;

	begin(state, 0);
	nested_counts = 0;
	post('a');
	assert_int_equal(rouse_post(j.remote, run_letter, of('a'), cancel_both), 0);
	post_all("bacba");
	count = cancel('a');
	assert_int_equal(count + nested_counts, 6);
	assert_int_equal(strlen(j.text), 6);
	env_drain(j.env);
	/* In which order the two reach them is nobody's business: once each. */
	for (const char *c = "AAAABBc"; *c; c++) {
		char *found = strchr(j.text, *c);

		assert_non_null(found);
		*found = '.';
	}
	expect(".......");
}

static int answers[4];

static void try_to_turn(void *data)
{
	rouse_loop *loop = j.env->loop;

	cancel_letter(data);
	answers[0] = rouse_loop_turn(loop, 0);
	answers[1] = rouse_loop_run(loop);
	answers[2] = rouse_loop_destroy(loop);
	/* What a callback may do. */
	answers[3] = rouse_timer_add(loop, ROUSE_NEVER, 0, 0, count_timer, NULL, NULL);
}

static void cancel_b(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	assert_int_equal(cancel('b'), 1);
}

static void a_cancel_function_does_not_turn_the_loop(void **state)
{
	begin(state, 0);
	for (int inside = 0; inside < 2; inside++) {
		assert_int_equal(rouse_post(j.remote, run_letter, of('b'), try_to_turn), 0);
		post('c');
		if (inside) {
			assert_int_equal(rouse_call(j.remote, cancel_b, NULL), 0);
		} else {
			cancel_b(j.env->loop, NULL);
		}
		for (int i = 0; i < 3; i++)
			assert_int_equal(answers[i], ROUSE_EBUSY);
		assert_int_equal(answers[3], 0);
		/* And afterwards it turns as before. */
		env_drain(j.env);
	}
	expect("BcBc");
}

static void cancel_more(void *data)
{
	cancel_letter(data);
	(void)cancel('a');
}

static void q5_in_the_loops_end_each_is_cancelled_once(void **state)
{
	begin(state, 0);
	post('b');
	assert_int_equal(rouse_post(j.remote, run_letter, of('c'), cancel_more), 0);
	post_all("ada");
	env_close(j.env);
	assert_int_equal(strlen(j.text), 5);
	assert_int_equal(strspn(j.text, "ABCD"), 5);
	assert_non_null(strchr(j.text, 'D'));
	assert_ptr_not_equal(strchr(j.text, 'A'), strrchr(j.text, 'A'));
	/* And that does not open the queue again. */
	assert_int_equal(rouse_post(j.remote, run_letter, of('a'), NULL), ROUSE_ECLOSED);
	assert_int_equal(rouse_call(j.remote, run_letter, of('a')), ROUSE_ECLOSED);
	assert_int_equal(rouse_remote_stop(j.remote), ROUSE_ECLOSED);
	rouse_remote_unref(j.remote);
}

/* ---- Others post meanwhile ---------------------------------------------------------- */

struct poster {
	unsigned posted, ran, cancelled;
};

static void fate_ran(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct poster *)data)->ran++;
}

static void fate_cancelled(void *data)
{
	((struct poster *)data)->cancelled++;
}

static void *post_many(void *data)
{
	struct poster *p = data;

	for (unsigned i = 0; i < p->posted; i++)
		if (rouse_post(j.remote, fate_ran, p, fate_cancelled) < 0)
			return p;
	return NULL;
}

static void each_post_of_others_runs_or_is_cancelled_once(void **state)
{
	struct poster posters[2];
	pthread_t threads[2];
	unsigned told = 0;

	begin(state, 16);
	for (int i = 0; i < 2; i++) {
		posters[i] = (struct poster){.posted = scaled(50000)};
		threads[i] = env_start(post_many, &posters[i]);
	}
	while (posters[0].ran + posters[0].cancelled < posters[0].posted ||
	       posters[1].ran + posters[1].cancelled < posters[1].posted) {
		int count = rouse_cancel_posts(j.env->loop, &posters[0]);

		assert_true(count >= 0);
		told += (unsigned)count;
		env_turn(j.env, 0);
	}
	for (int i = 0; i < 2; i++)
		env_join(threads[i]);
	env_drain(j.env);
	assert_int_equal(posters[0].ran + posters[0].cancelled, posters[0].posted);
	assert_int_equal(posters[0].cancelled, told);
	assert_int_equal(posters[1].ran, posters[1].posted);
	assert_int_equal(posters[1].cancelled, 0);
	expect("");
}

static void *cancel_elsewhere(void *data)
{
	return cancel('a') == ROUSE_EWRONGTHREAD ? NULL : data;
}

static void l7_wrong_thread(void **state)
{
	begin(state, 0);
	post('a');
	env_join(env_start(cancel_elsewhere, &j));
	ENV_UNTIL(j.env, j.length);
	expect("a");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(in_a_callback_of_the_same_batch),
	        env_test(a_post_that_runs_is_not_queued),
	        env_test(what_a_cancel_function_posts_stays),
	        env_test(a_cancel_function_cancels_more),
	        env_test(a_cancel_function_does_not_turn_the_loop),
	        env_test(q5_in_the_loops_end_each_is_cancelled_once),
	        env_test(each_post_of_others_runs_or_is_cancelled_once),
	        env_test(l7_wrong_thread),
	};

	return env_main(argc, argv, "cancels_meanwhile", tests, sizeof tests / sizeof *tests);
}
