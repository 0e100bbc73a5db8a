/* Where no window server answers. */
#include "bare.h"

#include <rouse/appkit.h>

static void without_a_server_nothing_is_attached(void **state)
{
	rouse_loop *loop = bare_loop();
	rouse_appkit *appkit = NULL;

	(void)state;
	assert_int_equal(unsetenv("DISPLAY"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rouse_appkit_attach(loop, NULL, &appkit), ROUSE_ELOST);
		assert_null(appkit);
	}
	bare_assert_own(loop);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_a_server_nothing_is_attached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
