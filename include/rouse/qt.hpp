/**
 * @file qt.hpp
 * A loop as the guest of Qt 6: a class in a header, over the public API alone (C++17, as Qt 6).
 *
 * Qt watches the loop's descriptor with a QSocketNotifier, and turns the loop when it is readable;
 * before each of Qt's waits (QAbstractEventDispatcher::aboutToBlock()) the loop is prepared, so
 * that what the program draws on an attached display from a slot is flushed, and a timer that it
 * adds counts.
 *
 *     rouse::QtGuest guest(loop);
 *     guest.onDone([](int) { QCoreApplication::quit(); });
 *     return app.exec();
 *
 * Everything is for one thread: the loop's, which made the guest and runs Qt's event loop, the
 * main one or a QThread's.  Posts, timers and descriptors are served in nested event loops and
 * modal dialogs, too, also in those that a callback of the loop's opens; not in one that asks for
 * QEventLoop::ExcludeSocketNotifiers.  No intent to read a Wayland display is held while Qt
 * sleeps: it runs notifiers and timers between aboutToBlock() and awake() (docs/embedding.md).
 */
#ifndef ROUSE_QT_HPP
#define ROUSE_QT_HPP

#include <rouse/rouse.h>

#include <QtCore/QAbstractEventDispatcher>
#include <QtCore/QObject>
#include <QtCore/QPointer>
#include <QtCore/QSocketNotifier>
#include <QtCore/QThread>
#include <QtCore/QtGlobal>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace rouse
{

class QtGuest : public QObject
{
public:
	/**
	 * Make a loop the guest of this thread's event loop, as long as this object lives; see
	 * error().  From then on rouse_loop_run() is refused.  Deleting it, in any callback, of
	 * the loop's and of Qt's, takes the loop out: Qt runs nothing of the loop's after that,
	 * and what is queued stays queued.  Where the loop is destroyed first the object is left
	 * behind, and does nothing.
	 */
	explicit QtGuest(rouse_loop *loop, QObject *parent = nullptr)
	    : QObject(parent), error_(attach(loop))
	{
	}

	~QtGuest() override
	{
		if (loop_)
			rouse_remove(loop_, end_);
	}

	/**
	 * @return 0; or why the loop is not attached: ROUSE_EINVAL, ROUSE_EWRONGTHREAD,
	 *         ROUSE_EEXIST (attached already), ROUSE_ENOTSUP (the loop is on a poller that has
	 *         no descriptor to watch, "poll" or "null"; or this thread has no event dispatcher:
	 *         QCoreApplication comes first), or an error of rouse_hook_add() or
	 *         rouse_loop_fd().
	 */
	int error() const noexcept
	{
		return error_;
	}

	/**
	 * What rouse_loop_run() would have returned: 0 for each rouse_loop_stop() and
	 * rouse_remote_stop(), which is where a program quits; or an error, after which Qt does
	 * not look at the loop any more.  Without it stops are not looked at, and errors go to
	 * qWarning().
	 */
	void onDone(std::function<void(int result)> done)
	{
		done_ = std::move(done);
	}

private:
	/* An attachment is made, looked at and ended on its loop's thread alone. */
	static inline thread_local std::vector<rouse_loop *> attached_;

	static int mayAttach(const rouse_loop *loop)
	{
		rouse_stats stats = {};
		stats.size = sizeof stats;

		if (const int error = rouse_loop_stats(loop, &stats))
			return error;
		if (std::find(attached_.begin(), attached_.end(), loop) != attached_.end())
			return ROUSE_EEXIST;
		return dispatcher() ? 0 : ROUSE_ENOTSUP;
	}

	static QAbstractEventDispatcher *dispatcher()
	{
		return QAbstractEventDispatcher::instance(QThread::currentThread());
	}

	int attach(rouse_loop *loop)
	{
		rouse_fd fd = ROUSE_NO_FD;
		rouse_hook end = {};
		end.size = sizeof end;
		end.fd = ROUSE_NO_FD;
		end.release = released;

		if (const int error = mayAttach(loop))
			return error;
		if (const int error = rouse_hook_add(loop, &end, this, &end_))
			return error;
		loop_ = loop;
		attached_.push_back(loop);
		if (const int error = rouse_loop_fd(loop, &fd)) {
			rouse_remove(loop, end_);
			return error;
		}
		notifier_ = new QSocketNotifier(fd, QSocketNotifier::Read, this);
		connect(notifier_, &QSocketNotifier::activated, this,
		        [this] { look([](rouse_loop *l) { return rouse_loop_turn(l, 0); }); });
		connect(dispatcher(), &QAbstractEventDispatcher::aboutToBlock, this, [this] {
			look([](rouse_loop *l) { return rouse_loop_prepare(l, 0, nullptr); });
		});
		return 0;
	}

	/* Qt does not look at the loop any more. */
	void quit()
	{
		QSocketNotifier *notifier = std::exchange(notifier_, nullptr);

		if (dispatcher())
			disconnect(dispatcher(), nullptr, this, nullptr);
		if (!notifier)
			return;
		notifier->setEnabled(false);
		notifier->disconnect(this);
		if (looking_) {
			/* It is what calls us. */
			notifier->setParent(nullptr);
			notifier->deleteLater();
		} else {
			delete notifier;
		}
	}

	/* Once: the object goes, or the loop does. */
	static void released(rouse_loop *loop, void *data)
	{
		QtGuest *self = static_cast<QtGuest *>(data);

		attached_.erase(std::find(attached_.begin(), attached_.end(), loop));
		self->quit();
		self->loop_ = nullptr;
	}

	/* A turn or a prepare, after which this object may be gone. */
	template <typename Call> void look(Call call)
	{
		const QPointer<QtGuest> self(this);

		looking_++;
		const int result = call(loop_);
		if (self && loop_)
			tell(result);
		if (self)
			looking_--;
	}

	/* In a hook's pass the loop is not to be turned, and says so: that is no error. */
	void tell(int result)
	{
		/* A copy: it may delete this object. */
		const std::function<void(int result)> done = done_;

		if (result == ROUSE_EBUSY)
			return;
		if (result < 0)
			quit();
		else if (done && rouse_loop_take_stop(loop_) > 0)
			result = 0;
		else
			return;
		if (done)
			done(result);
		else
			qWarning("rouse: %s", rouse_strerror(result));
	}

	rouse_loop *loop_ = nullptr;
	rouse_source end_ = {};
	QSocketNotifier *notifier_ = nullptr;
	unsigned looking_ = 0;
	std::function<void(int result)> done_;
	int error_;
};

} // namespace rouse

#endif
