/* A user's program on Qt: the header that was installed, and nothing of ours but the core. */
#include <rouse/qt.hpp>

#include <QtCore/QCoreApplication>
#include <QtCore/QTimer>

#include <cstdio>
#include <memory>
#include <thread>

struct Counter {
	rouse_remote *remote;
	int posts = 0;
};

static void count(rouse_loop *, void *data)
{
	static_cast<Counter *>(data)->posts++;
}

int main(int argc, char **argv)
{
	QCoreApplication app(argc, argv);
	rouse_loop *loop;

	if (const int error = rouse_loop_create(nullptr, &loop)) {
		std::fprintf(stderr, "%s\n", rouse_strerror(error));
		return 1;
	}
	Counter counter{rouse_loop_remote(loop)};
	auto guest = std::make_unique<rouse::QtGuest>(loop);
	if (guest->error())
		return 2;
	guest->onDone([](int result) { QCoreApplication::exit(result ? 3 : 0); });
	QTimer::singleShot(60000, [] { QCoreApplication::exit(4); });
	std::thread worker([&counter] {
		for (int i = 0; i < 100; i++)
			if (rouse_post(counter.remote, count, &counter, nullptr) < 0)
				return;
		rouse_remote_stop(counter.remote);
	});
	int status = app.exec();
	worker.join();
	if (!status && counter.posts != 100)
		status = 5;
	guest.reset();
	rouse_remote_unref(counter.remote);
	if (rouse_loop_destroy(loop))
		return 6;
	return status;
}
