// A C++ program's pools: scopes that are left by return and by exceptions, destructors of threads.
#undef NDEBUG
#include <rouse/pool.h>

#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>

static int released;

static void release(void *object)
{
	released++;
	delete static_cast<std::string *>(object);
}

static std::string *make(const char *text)
{
	return static_cast<std::string *>(rouse_autorelease(new std::string(text), release));
}

struct leaves_one {
	~leaves_one()
	{
		make("as a thread ends");
	}
};
static thread_local leaves_one at_end;

static void on_a_thread()
{
	(void)&at_end;
	make("with no pool");
}

static int from_a_scope(int n)
{
	ROUSE_POOL_SCOPE
	{
		make("in a scope");
		if (n)
			return n;
	}
	return 0;
}

int main()
{
	size_t length = rouse::with_pool([] { return make("in a closure")->size(); });
	assert(length == 12 && released == 1);

	try {
		rouse::with_pool([] {
			make("thrown over");
			throw std::runtime_error("out");
		});
		assert(false);
	} catch (const std::runtime_error &) {
		assert(released == 2);
	}

	int x = 0;
	int &same = rouse::with_pool([&x]() -> int & { return x; });
	assert(&same == &x);

	assert(from_a_scope(7) == 7 && released == 3);
	try {
		ROUSE_POOL_SCOPE
		{
			make("thrown out of a scope");
			throw 1;
		}
	} catch (int) {
		assert(released == 4);
	}

	std::thread(on_a_thread).join();
	assert(released == 6);

	rouse_pool_stats stats = rouse_pool_stats();
	stats.size = sizeof stats;
	assert(rouse_pool_stats_process(&stats) == 0);
	assert(stats.live == 0 && stats.skipped == 0 && stats.stranded == 0);
	return 0;
}
