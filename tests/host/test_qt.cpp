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

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
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

/* ---- Where it is not its loop's thread, or process, any more ------------------------------------ */

/* Told once, and never looked at again: not by the dispatcher that it was attached in, either. */
static void l7_moved_to_another_thread(void **)
{
	rouse_loop *loop = bare_loop();
	rouse::QtGuest guest(loop);
	QThread *here = QThread::currentThread();
	std::atomic<QThread *> elsewhere = nullptr;
	std::atomic<bool> moved = false;
	int told = 0, result = 0;
	bool served = false;
	std::function<void()> serve = [&] { served = true; };

	guest.onDone([&](int error) {
		result = error;
		told++;
	});
	std::thread thread([&] {
		QEventLoop events;

		elsewhere = QThread::currentThread();
		while (!moved)
			std::this_thread::yield();
		while (!told)
			events.processEvents(QEventLoop::WaitForMoreEvents);
		for (int i = 0; i < 10; i++)
			events.processEvents();
		guest.moveToThread(here);
	});
	while (!elsewhere)
		std::this_thread::yield();
	guest.moveToThread(elsewhere);
	post(loop, &serve);
	moved = true;
	thread.join();
	for (int i = 0; i < 10; i++)
		QCoreApplication::processEvents();
	assert_int_equal(told, 1);
	assert_int_equal(result, ROUSE_EWRONGTHREAD);
	assert_false(served);
	assert_int_equal(rouse_loop_turn(loop, 0), 1);
	assert_true(served);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* It cannot answer; so the loop must not look for it when it ends itself. */
static void l7_deleted_on_another_thread(void **)
{
	rouse_loop *loop = bare_loop();
	auto *guest = new rouse::QtGuest(loop);
	bool served = false;
	std::function<void()> serve = [&] { served = true; };

	/* As Qt wants it of every object that another thread deletes. */
	guest->moveToThread(nullptr);
	std::thread([guest] { delete guest; }).join();
	post(loop, &serve);
	for (int i = 0; i < 10; i++)
		QCoreApplication::processEvents();
	assert_false(served);
	rouse::QtGuest second(loop);
	assert_int_equal(second.error(), ROUSE_EEXIST);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static int in_child(int what, rouse_loop *loop, std::unique_ptr<rouse::QtGuest> &guest, int &told)
{
	bool served = false;
	std::function<void()> serve = [&] { served = true; };

	if (what == 0) {
		for (int i = 0; i < 10; i++)
			QCoreApplication::processEvents();
		return told == 1 ? 0 : 1;
	}
	/* Too early: the loop still has its hook. */
	if (what == 2)
		guest.reset();
	if (rouse_loop_after_fork(loop))
		return 2;
	if (what == 2)
		return rouse_loop_destroy(loop) ? 3 : 0;
	post(loop, &serve);
	for (int i = 0; i < 10 && !served; i++)
		QCoreApplication::processEvents();
	return served && told == 0 ? 0 : 4;
}

static void f10_a_forked_child(void **)
{
	for (int what = 0; what < 3; what++) {
		rouse_loop *loop = bare_loop();
		auto guest = std::make_unique<rouse::QtGuest>(loop);
		bool served = false;
		std::function<void()> serve = [&] { served = true; };
		int told = 0, status;

		guest->onDone([&](int error) { told += error == ROUSE_EFORKED ? 1 : 100; });
		const pid_t child = fork();
		if (child == 0)
			_exit(in_child(what, loop, guest, told));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		post(loop, &serve);
		until(served);
		assert_int_equal(told, 0);
		guest.reset();
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

static std::string complaint;

static void an_error_that_nobody_asked_for_is_logged(void **)
{
	rouse_loop *loop = bare_loop();
	rouse::QtGuest guest(loop);
	int status;

	const pid_t child = fork();
	if (child == 0) {
		qInstallMessageHandler([](QtMsgType, const QMessageLogContext &, const QString &text) {
			complaint += text.toStdString();
		});
		QCoreApplication::processEvents();
		const bool said =
		        complaint.find(rouse_strerror(ROUSE_EFORKED)) != std::string::npos;
		_exit(said ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* A thread-local or static guest ends after what the header may have of its own. */
static void outlives_what_its_thread_has_used_after_it(void **)
{
	struct Late {
		rouse_loop *loop = nullptr;
		std::unique_ptr<rouse::QtGuest> guest;
		~Late()
		{
			guest.reset();
			need(rouse_loop_destroy(loop) == 0);
		}
	};

	std::thread([] {
		static thread_local Late late;
		static thread_local QEventLoop *events = nullptr;

		late.loop = bare_loop();
		QEventLoop here;
		events = &here;
		late.guest = std::make_unique<rouse::QtGuest>(late.loop);
		need(late.guest->error() == 0);
		std::function<void()> end = [] { events->quit(); };
		post(late.loop, &end);
		here.exec();
	}).join();
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
	        cmocka_unit_test(l7_moved_to_another_thread),
	        cmocka_unit_test(l7_deleted_on_another_thread),
	        cmocka_unit_test(f10_a_forked_child),
	        cmocka_unit_test(an_error_that_nobody_asked_for_is_logged),
	        cmocka_unit_test(outlives_what_its_thread_has_used_after_it),
	};
	QCoreApplication app(argc, argv);

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
