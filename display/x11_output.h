/* What Xlib has not written yet: shared by the libraries that link Xlib. */
#ifndef ROUSE_DISPLAY_X11_OUTPUT_H
#define ROUSE_DISPLAY_X11_OUTPUT_H

#include <X11/Xlib.h>
#include <stdbool.h>

/* Whether a request may be unwritten; write it, and read nothing. */
bool rouse__x11_unwritten(Display *display);
void rouse__x11_flush(Display *display);

#endif
