/* In place of the Wayland parts, in a build without them. */
#include "bench/display.h"
#include "bench/mech.h"

const struct display_ops display_wayland = {
        .loop = "wayland",
        .name = "Wayland compositor",
        .variable = "WAYLAND_DISPLAY",
        .missing = "this build has no Wayland (install libwayland-dev wayland-protocols)",
};

const struct mech_ops mech_sync = {
        .name = "sync",
        .summary = "wl_display_sync() on the window's connection",
        .display = &display_wayland,
};
