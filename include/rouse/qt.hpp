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

#include <functional>
#include <memory>
#include <utility>

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
	 * behind, and does nothing.  A forked child deletes it after rouse_loop_after_fork():
	 * before that the loop lets nothing go, and counts as attached as long as it lives.
	 */
	explicit QtGuest(rouse_loop *loop, QObject *parent = nullptr)
	    : QtGuest(Unattached(), parent)
	{
		error_ = attach(loop);
	}

	~QtGuest() override
	{
		if (!link_)
			return;
		/* Where the loop refuses this (another thread, a forked child) it keeps the link,
		 * and nothing of this object's. */
		if (rouse_remove(link_->loop, link_->end) && link_) {
			quit();
			link_->guest = nullptr;
		}
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
	struct Unattached {
	};

	/* Complete before it is attached, so that an exception there ends it as any end does. */
	QtGuest(Unattached, QObject *parent) : QObject(parent)
	{
	}

	/* What the loop holds of an attachment, from the loop's thread alone. */
	struct Link {
		QtGuest *guest; /* null: gone without the loop's knowledge */
		rouse_loop *loop;
		rouse_source end; /* a hook of nothing but a release */
		Link *next;
	};

	/* Of this thread: no object, which could end before the last guest does. */
	static inline thread_local Link *links_ = nullptr;

	static int mayAttach(const rouse_loop *loop)
	{
		rouse_stats stats = {};
		stats.size = sizeof stats;

		if (const int error = rouse_loop_stats(loop, &stats))
			return error;
		for (const Link *link = links_; link; link = link->next)
			if (link->loop == loop)
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
		auto link = std::make_unique<Link>(Link{this, loop, {}, links_});
		if (const int error = rouse_hook_add(loop, &end, link.get(), &link->end))
			return error;
		links_ = link_ = link.release();
		if (const int error = rouse_loop_fd(loop, &fd)) {
			rouse_remove(loop, link_->end);
			return error;
		}
		notifier_ = new QSocketNotifier(fd, QSocketNotifier::Read, this);
		connect(notifier_, &QSocketNotifier::activated, this,
		        [this] { look([](rouse_loop *l) { return rouse_loop_turn(l, 0); }); });
		before_ = connect(dispatcher(), &QAbstractEventDispatcher::aboutToBlock, this,
		                  [this] {
			                  look([](rouse_loop *l) {
				                  return rouse_loop_prepare(l, 0, nullptr);
			                  });
		                  });
		return 0;
	}

	/* Qt does not look at the loop any more. */
	void quit()
	{
		QSocketNotifier *notifier = std::exchange(notifier_, nullptr);

		disconnect(before_);
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
	static void released(rouse_loop *, void *data)
	{
		const std::unique_ptr<Link> link(static_cast<Link *>(data));
		Link **at = &links_;

		while (*at && *at != link.get())
			at = &(*at)->next;
		if (*at)
			*at = link->next;
		if (link->guest) {
			link->guest->quit();
			link->guest->link_ = nullptr;
		}
	}

	/* A turn or a prepare, after which this object may be gone. */
	template <typename Call> void look(Call call)
	{
		const QPointer<QtGuest> self(this);

		looking_++;
		const int result = call(link_->loop);
		if (self && link_)
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
		else if (done && rouse_loop_take_stop(link_->loop) > 0)
			result = 0;
		else
			return;
		if (done)
			done(result);
		else
			qWarning("rouse: %s", rouse_strerror(result));
	}

	Link *link_ = nullptr; /* null: not attached */
	QMetaObject::Connection before_;
	QSocketNotifier *notifier_ = nullptr;
	unsigned looking_ = 0;
	std::function<void(int result)> done_;
	int error_ = 0;
};

} // namespace rouse

#endif
