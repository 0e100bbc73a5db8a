/*
 * Xlib's error handlers, and how a process outlives its server.
 *
 * Xlib has one error handler and one I/O error handler for the whole process.  Ours are
 * installed with the first attached display and given back with the last, each time by
 * exchange: what was found is kept and called for every display that is not attached.  If
 * somebody else's handler turns out to lie above ours when it is time to go, theirs is put
 * back and ours stays beneath it, passing on.  Installed once more on top of a handler that may
 * still call us, ours can be reached twice by one error: the second time, it passes on to what
 * was found first, so the chain ends.
 *
 * When the connection breaks, Xlib calls the I/O error handler, which by default exits, and
 * then the display's exit handler, which by default exits too.  When both return, the display
 * lives on as a husk, in which two things still kill:
 *   - Xlib throws no output away.  When its buffer is full it hands out NULL as the place for
 *     the next request, and the request is written there.
 *   - If XCB had the socket when it broke, Xlib's buffer has no room from the start, and
 *     XCloseDisplay() does just that.
 * So the exit handler gives the husk an empty buffer, and an after function that empties it
 * again after every request.  That needs three fields of the Display, which every extension
 * library of X has compiled in; the same three tell what is unwritten.
 *
 * The handlers run inside whatever Xlib function noticed, perhaps in the middle of a callback of
 * the user's: they mark, and the hook's dispatch tells.
 */
#include "x11_private.h"

#include <X11/Xlibint.h>

static rouse_x11 *attached;

/* What was found: at the first installation, and at the last one. */
static bool installed, io_installed;
static XErrorHandler first, previous;
static XIOErrorHandler io_first, io_previous;

static _Thread_local unsigned passing;

static rouse_x11 *find(const Display *display)
{
	rouse_x11 *x11 = attached;

	while (x11 && x11->display != display)
		x11 = x11->next;
	return x11;
}

static int x_error(Display *display, XErrorEvent *error)
{
	rouse__display_lock();
	rouse_x11 *x11 = find(display);
	XErrorHandler next = passing ? first : previous;
	rouse__display_unlock();

	/* Only this thread detaches it: this is the thread that uses the display. */
	if (x11 && x11->options.error) {
		rouse__x11_enter(x11);
		x11->spoke = true;
		x11->options.error(x11->loop, x11, error->error_code, error->request_code,
		                   error->minor_code, error->serial, error->resourceid,
		                   x11->options.data);
		rouse__x11_leave(x11);
		return 0;
	}
	passing++;
	int result = next(display, error);
	passing--;
	return result;
}

static int io_error(Display *display)
{
	rouse__display_lock();
	rouse_x11 *x11 = find(display);
	XIOErrorHandler next = passing ? io_first : io_previous;
	rouse__display_unlock();

	if (x11)
		return 0;
	passing++;
	int result = next(display);
	passing--;
	return result;
}

static int empty_buffer(Display *display)
{
	display->bufptr = display->buffer;
	return 0;
}

/* Per display; instead of exit(). */
static void survive(Display *display, void *data)
{
	(void)data;
	/* No buffer of Xlib's is smaller than BUFSIZE. */
	if (display->bufmax == display->buffer)
		display->bufmax = display->buffer + BUFSIZE;
	empty_buffer(display);
	XSetAfterFunction(display, empty_buffer);

	rouse__display_lock();
	rouse_x11 *x11 = find(display);
	if (x11)
		x11->lost = true;
	rouse__display_unlock();
}

static void install(void)
{
	XErrorHandler found = XSetErrorHandler(x_error);
	XIOErrorHandler io_found = XSetIOErrorHandler(io_error);

	if (found != x_error) {
		previous = found;
		if (!installed)
			first = found;
	}
	if (io_found != io_error) {
		io_previous = io_found;
		if (!io_installed)
			io_first = io_found;
	}
	installed = io_installed = true;
}

static void give_back(void)
{
	XErrorHandler found = XSetErrorHandler(previous);
	XIOErrorHandler io_found = XSetIOErrorHandler(io_previous);

	if (found == x_error)
		installed = false;
	else
		XSetErrorHandler(found);
	if (io_found == io_error)
		io_installed = false;
	else
		XSetIOErrorHandler(io_found);
}

int rouse__x11_enlist(rouse_x11 *x11)
{
	int result = ROUSE_EEXIST;

	rouse__display_lock();
	if (!find(x11->display)) {
		if (!attached)
			install();
		x11->next = attached;
		attached = x11;
		x11->enlisted = true;
		result = 0;
	}
	rouse__display_unlock();
	if (result == 0)
		XSetIOErrorExitHandler(x11->display, survive, NULL);
	return result;
}

void rouse__x11_delist(rouse_x11 *x11)
{
	/* A husk keeps its exit handler. */
	if (!x11->lost)
		XSetIOErrorExitHandler(x11->display, NULL, NULL);

	rouse__display_lock();
	rouse_x11 **link = &attached;
	while (*link != x11)
		link = &(*link)->next;
	*link = x11->next;
	x11->enlisted = false;
	if (!attached)
		give_back();
	rouse__display_unlock();
}
