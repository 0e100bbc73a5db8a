#include <rouse/rouse.h>

const char *rouse_strerror(int error)
{
	if (error > 0)
		return "success";
	switch ((enum rouse_error)error) {
	case ROUSE_OK:
		return "success";
	case ROUSE_EINVAL:
		return "invalid argument";
	case ROUSE_ENOMEM:
		return "out of memory";
	case ROUSE_ENOTSUP:
		return "not supported by this poller, or not with this kind of object";
	case ROUSE_EWRONGTHREAD:
		return "called on a thread that does not own the loop";
	case ROUSE_ESTALE:
		return "the source was removed already";
	case ROUSE_EEXIST:
		return "watched or queued already";
	case ROUSE_ECLOSED:
		return "closed, or its loop destroyed";
	case ROUSE_ELIMIT:
		return "the system's limit on watched objects is reached";
	case ROUSE_EABI:
		return "the struct has fields that this version of the library does not know";
	case ROUSE_EOS:
		return "the operating system refused (see rouse_os_error)";
	case ROUSE_EBUSY:
		return "the loop is running, or attached already";
	case ROUSE_ELOST:
		return "the display or peer is gone";
	case ROUSE_EFORKED:
		return "in a forked child (see rouse_loop_after_fork)";
	case ROUSE_EDEADLOCK:
		return "that loop's thread is waiting for this one";
	}
	return "unknown error";
}
