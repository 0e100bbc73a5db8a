// A Qt 6 window that a worker thread posts to 20 times: a bar says how far it is.
#include <rouse/qt.hpp>

#include <QtWidgets/QApplication>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QVBoxLayout>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

constexpr int Steps = 20;

class Window : public QWidget
{
public:
	Window()
	{
		auto *layout = new QVBoxLayout(this);
		layout->addWidget(&label_);
		layout->addWidget(&bar_);
		bar_.setRange(0, Steps);
	}

	void step()
	{
		bar_.setValue(++steps_);
		label_.setText(QString("step %1 of %2").arg(steps_).arg(Steps));
	}

	int steps() const
	{
		return steps_;
	}

private:
	QLabel label_{"not begun"};
	QProgressBar bar_;
	int steps_ = 0; // the main thread's: a post is never merged with another
};

static void work(rouse_remote *remote, Window *window)
{
	const auto step = [](rouse_loop *, void *data) { static_cast<Window *>(data)->step(); };

	for (int i = 0; i < Steps && rouse_post(remote, step, window, nullptr) >= 0; i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	rouse_remote_stop(remote);
}

int main(int argc, char **argv)
{
	QApplication app(argc, argv);
	Window window;
	rouse_loop *loop;

	if (rouse_loop_create(nullptr, &loop) < 0)
		return 1;
	auto guest = std::make_unique<rouse::QtGuest>(loop);
	if (guest->error() < 0)
		return 1;
	guest->onDone([](int result) { QCoreApplication::exit(result < 0); });
	window.show();
	rouse_remote *remote = rouse_loop_remote(loop);
	std::thread worker(work, remote, &window);
	const int status = app.exec();
	worker.join();
	std::printf("%d steps\n", window.steps());
	rouse_remote_unref(remote);
	guest.reset();
	return rouse_loop_destroy(loop) < 0 ? 1 : status;
}
