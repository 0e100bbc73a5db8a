/* A runtime that is loaded after us: without Foundation it has no pools. */
#include "../pool/pool_test.h"

#include <dlfcn.h>

static void found_when_it_is_there(void **state)
{
	(void)state;
	assert_int_equal(rouse_pool_bridge_objc(), ROUSE_ENOTSUP);
	assert_non_null(dlopen(LIBOBJC, RTLD_NOW | RTLD_GLOBAL));
	assert_int_equal(rouse_pool_bridge_objc(), ROUSE_ENOTSUP);
	assert_non_null(dlopen(GNUSTEP_BASE, RTLD_NOW | RTLD_GLOBAL));
	assert_int_equal(rouse_pool_bridge_objc(), 0);
	ROUSE_POOL_SCOPE
	{
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(found_when_it_is_there),
	};

	return cmocka_run_group_tests_name("late_objc", tests, NULL, NULL);
}
