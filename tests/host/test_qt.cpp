/* rouse/qt.hpp: what is Qt's own. */
#include <rouse/qt.hpp>

#include <QtCore/QCoreApplication>
#include <QtCore/QEventLoop>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}

#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

/* On any thread, where an assertion of cmocka's would not do. */
static void need(bool condition)
{
	if (!condition)
		std::abort();
}

static rouse_loop *bare_loop()
{
	rouse_loop *loop = nullptr;

	need(rouse_loop_create(nullptr, &loop) == 0);
	return loop;
}

static void post(rouse_loop *loop, std::function<void()> *call)
{
	rouse_remote *remote = rouse_loop_remote(loop);
	const auto run = [](rouse_loop *, void *data) {
		(*static_cast<std::function<void()> *>(data))();
	};

	need(rouse_post(remote, run, call, nullptr) >= 0);
	rouse_remote_unref(remote);
}

static void until(const bool &done)
{
	while (!done)
		QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

/* Its thread has no event dispatcher. */
static void refused_before_the_application(void **)
{
	std::thread([] {
		rouse_loop *loop = bare_loop();
		{
			rouse::QtGuest guest(loop);
			need(guest.error() == ROUSE_ENOTSUP);
		}
		rouse::QtGuest none(nullptr);
		need(none.error() == ROUSE_EINVAL);
		/* It is nobody's guest. */
		need(rouse_loop_stop(loop) == 0 && rouse_loop_run(loop) == 0);
		need(rouse_loop_destroy(loop) == 0);
	}).join();
}

static void deleted_in_a_callback_of_the_loop(void **)
{
	for (int i = 0; i < 20; i++) {
		rouse_loop *loop = bare_loop();
		auto *guest = new rouse::QtGuest(loop);
		bool gone = false;
		int told = 0;
		std::function<void()> end = [&] {
			assert_int_equal(rouse_loop_stop(loop), 0);
			delete guest;
			gone = true;
		};

		assert_int_equal(guest->error(), 0);
		guest->onDone([&](int) { told++; });
		post(loop, &end);
		until(gone);
		QCoreApplication::processEvents();
		assert_int_equal(told, 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

static void deleted_when_it_is_told_of_a_stop(void **)
{
	rouse_loop *loop = bare_loop();
	auto guest = std::make_unique<rouse::QtGuest>(loop);
	rouse_remote *remote = rouse_loop_remote(loop);
	bool gone = false;

	guest->onDone([&](int result) {
		assert_int_equal(result, 0);
		guest.reset();
		gone = true;
	});
	assert_true(rouse_remote_stop(remote) >= 0);
	until(gone);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void outlives_its_loop(void **)
{
	rouse_loop *loop = bare_loop();
	rouse::QtGuest guest(loop);

	assert_int_equal(guest.error(), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	for (int i = 0; i < 5; i++)
		QCoreApplication::processEvents();
}

/* As QDialog::exec() does it. */
static void g3_an_event_loop_in_a_callback(void **)
{
	rouse_loop *loop = bare_loop();
	rouse::QtGuest guest(loop);
	QEventLoop dialog;
	int answers = 0;
	bool closed = false;
	std::function<void()> answer = [&] {
		if (++answers == 20)
			dialog.quit();
	};
	std::function<void()> open = [&] {
		std::thread worker([&] {
			for (int i = 0; i < 20; i++)
				post(loop, &answer);
		});
		dialog.exec();
		worker.join();
		closed = true;
	};

	post(loop, &open);
	until(closed);
	assert_int_equal(answers, 20);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* A QThread of its own, with a loop of its own. */
static void in_another_thread(void **)
{
	int answers = 0;

	std::thread([&] {
		QEventLoop events;
		rouse_loop *loop = bare_loop();
		rouse::QtGuest guest(loop);
		std::function<void()> answer = [&] {
			if (++answers == 20)
				events.quit();
		};

		need(guest.error() == 0);
		for (int i = 0; i < 20; i++)
			post(loop, &answer);
		events.exec();
		need(rouse_loop_destroy(loop) == 0);
	}).join();
	assert_int_equal(answers, 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(refused_before_the_application),
	        cmocka_unit_test(deleted_in_a_callback_of_the_loop),
	        cmocka_unit_test(deleted_when_it_is_told_of_a_stop),
	        cmocka_unit_test(outlives_its_loop),
	        cmocka_unit_test(g3_an_event_loop_in_a_callback),
	        cmocka_unit_test(in_another_thread),
	};
	QCoreApplication app(argc, argv);

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
