#include "host.h"

#include <rouse/qt.hpp>

#include <QtCore/QCoreApplication>
#include <QtCore/QTimer>

#include <memory>

extern "C" {
const struct host_kind host_kind = {"Qt", true, false, true, true, false, 0};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;
}

static std::unique_ptr<rouse::QtGuest> guest;
static std::unique_ptr<QTimer> ticking, busy;

void host_init(int *argc, char **argv)
{
	/* For the whole program: it is neither to be made twice nor to be deleted by exit(). */
	new QCoreApplication(*argc, argv);
}

void host_open(void)
{
	host_dones = 0;
}

void host_close(void)
{
	ticking.reset();
	host_busy(false);
	guest.reset();
	for (int i = 0; i < 10; i++)
		host_poll();
}

int host_attach(rouse_loop *loop)
{
	auto attached = std::make_unique<rouse::QtGuest>(loop);

	if (attached->error())
		return attached->error();
	attached->onDone([](int result) {
		host_result = result;
		host_dones++;
		/* As to quit does. */
		QAbstractEventDispatcher::instance()->wakeUp();
		if (host_leaves)
			host_detach();
	});
	guest = std::move(attached);
	return 0;
}

int host_detach(void)
{
	if (guest && guest->thread() != QThread::currentThread())
		return ROUSE_EWRONGTHREAD;
	guest.reset();
	return 0;
}

void host_turn(void)
{
	QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void host_poll(void)
{
	QCoreApplication::processEvents();
}

bool host_refuses_to_nest(void)
{
	return false;
}

void host_tick(void (*fn)(void *data), void *data)
{
	/* It may be what calls. */
	if (ticking) {
		ticking->stop();
		ticking.release()->deleteLater();
	}
	if (!fn)
		return;
	ticking = std::make_unique<QTimer>();
	ticking->setTimerType(Qt::PreciseTimer);
	QObject::connect(ticking.get(), &QTimer::timeout, ticking.get(), [fn, data] { fn(data); });
	ticking->start(1);
}

void host_busy(bool on)
{
	busy.reset();
	host_busy_runs = 0;
	if (!on)
		return;
	busy = std::make_unique<QTimer>();
	QObject::connect(busy.get(), &QTimer::timeout, busy.get(), [] { host_busy_runs++; });
	busy->start(0);
}
