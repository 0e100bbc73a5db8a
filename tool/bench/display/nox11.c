/* In place of the X11 parts, in a build without them. */
#include "bench/display.h"
#include "bench/mech.h"

const struct display_ops display_x11 = {
        .loop = "x11",
        .name = "X11 display",
        .variable = "DISPLAY",
        .x11 = true,
        .missing = "this build has no X11 (install libx11-dev libx11-xcb-dev libxcb1-dev)",
};

const struct mech_ops mech_clientmessage = {
        .name = "clientmessage",
        .summary = "ClientMessage to the loop's window",
        .display = &display_x11,
};
