#ifndef STUB_SYS_EVENT_H
#define STUB_SYS_EVENT_H

#include <sys/types.h>
#include <time.h>

#pragma pack(push, 4)
struct kevent {
	uintptr_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	intptr_t data;
	void *udata;
};
#pragma pack(pop)

#define EV_SET(event, of, which, how, more, value, user)                                           \
	do {                                                                                       \
		struct kevent *const stub_event = (event);                                         \
		stub_event->ident = (of);                                                          \
		stub_event->filter = (which);                                                      \
		stub_event->flags = (how);                                                         \
		stub_event->fflags = (more);                                                       \
		stub_event->data = (value);                                                        \
		stub_event->udata = (user);                                                        \
	} while (0)

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_PROC (-5)
#define EVFILT_TIMER (-7)
#define EVFILT_USER (-10)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_EOF 0x8000

#define NOTE_LOWAT 0x00000001
#define NOTE_NSECONDS 0x00000004
#define NOTE_TRIGGER 0x01000000
#define NOTE_EXIT 0x80000000

int kqueue(void);
int kevent(int, const struct kevent *, int, struct kevent *, int, const struct timespec *);

#endif
