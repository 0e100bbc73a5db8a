#include "x11_output.h"

#include <X11/Xlibint.h>

bool rouse__x11_unwritten(Display *display)
{
	/* In Xlib's buffer; or in XCB's, while XCB has the socket, which Xlib shows by a
	 * buffer without room. */
	return display->bufptr != display->buffer || display->bufmax == display->buffer;
}

void rouse__x11_flush(Display *display)
{
	if (display->bufmax == display->buffer) {
		/* Takes the socket back, for which XCB writes what it has. */
		XNextRequest(display);
		return;
	}
	LockDisplay(display);
	_XSend(display, NULL, 0);
	UnlockDisplay(display);
}
