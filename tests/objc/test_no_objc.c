/* No Objective-C runtime in the process. */
#include "../pool/pool_test.h"

static void note_report(const char *what, void *caller, void *ctx)
{
	EXPECT(strstr(what, "Objective-C") && !caller);
	++*(int *)ctx;
}

static void no_bridge(void **state)
{
	rouse_pool outer = rouse_pool_push(), inner;
	rouse_pool_stack *stack;
	struct object object = {0};

	(void)state;
	assert_int_equal(rouse_pool_bridge_objc(), ROUSE_ENOTSUP);
	inner = rouse_pool_push();
	assert_ptr_equal(rouse_autorelease(&object, release_object), &object);
	assert_int_equal(rouse_pool_detach(inner, &stack), 0);
	assert_int_equal(rouse_pool_attach(stack), 0);
	assert_int_equal(rouse_pool_pop(outer), 1);
	assert_int_equal(object.released, 1);
}

static void an_object_that_nobody_can_release(void **state)
{
	int reports = 0;

	(void)state;
	assert_int_equal(rouse_pool_set_missing(ROUSE_MISSING_COUNT, note_report, &reports), 0);
	ROUSE_POOL_SCOPE
	{
		assert_ptr_equal(rouse_autorelease(&reports, rouse_release_objc), &reports);
		assert_null(rouse_autorelease(NULL, rouse_release_objc));
	}
	assert_int_equal(reports, 1);
	assert_int_equal(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_bridge),
	        cmocka_unit_test(an_object_that_nobody_can_release),
	};

	return cmocka_run_group_tests_name("no_objc", tests, NULL, NULL);
}
