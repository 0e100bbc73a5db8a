#include "bench/host/qt_loop.h"

#include <clocale>
#include <memory>
#include <new>
#include <string>

#include <QtCore/QCoreApplication>
#include <QtCore/QMetaObject>
#include <QtCore/QTimer>

#include <rouse/qt.hpp>

/* Qt takes the whole locale from the environment; here numbers keep their point. */
class SameLocale
{
      public:
	~SameLocale()
	{
		std::setlocale(LC_ALL, name_.c_str());
	}

      private:
	std::string name_ = std::setlocale(LC_ALL, nullptr);
};

struct qt_loop {
	explicit qt_loop(rouse_loop *loop) : app(application()), guest(loop)
	{
		guest.onDone([this](int with) {
			result = with;
			QCoreApplication::quit();
		});
	}

	QCoreApplication *application()
	{
		const SameLocale same;

		return new QCoreApplication(argc, argv);
	}

	int argc = 1;
	char name[6] = "rouse";
	char *argv[2] = {name, nullptr};
	int result = 0;
	std::unique_ptr<QCoreApplication> app;
	rouse::QtGuest guest;
	QObject receiver;
};

int qt_loop_open(rouse_loop *loop, struct qt_loop **ret_qt)
{
	auto *qt = new (std::nothrow) qt_loop(loop);

	if (!qt)
		return ROUSE_ENOMEM;
	if (const int error = qt->guest.error()) {
		delete qt;
		return error;
	}
	*ret_qt = qt;
	return 0;
}

void qt_loop_close(struct qt_loop *qt)
{
	delete qt;
}

const char *qt_loop_version()
{
	return qVersion();
}

int qt_loop_run(struct qt_loop *qt)
{
	QCoreApplication::exec();
	return qt->result;
}

void qt_loop_turn(struct qt_loop *qt, rouse_ns until)
{
	const rouse_ns now = rouse_now();
	QTimer timer;

	(void)qt;
	timer.setSingleShot(true);
	timer.start(until > now ? static_cast<int>((until - now) / 1000000) + 1 : 0);
	QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

int qt_loop_invoke(struct qt_loop *qt, void (*fn)(void *data), void *data)
{
	const auto call = [fn, data] { fn(data); };

	return QMetaObject::invokeMethod(&qt->receiver, call, Qt::QueuedConnection) ? 0 : ROUSE_EOS;
}
