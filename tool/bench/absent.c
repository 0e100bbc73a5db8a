/*
 * In place of the loops of other libraries, in a program that has none of them, or not all: what
 * is weak here gives way to the real one.
 */
#include "bench/display.h"
#include "bench/host.h"
#include "bench/mech.h"

#define ABSENT __attribute__((weak)) const

ABSENT struct host_ops host_glib = {.missing = "this build has no GLib (install libglib2.0-dev)"};
ABSENT struct host_ops host_uv = {.missing = "this build has no libuv (install libuv1-dev)"};
ABSENT struct host_ops host_qt = {.missing =
                                          "this build has no Qt 6 (install qt6-base-dev and g++)"};

ABSENT struct display_ops display_glfw = {
        .loop = "glfw",
        .name = "GLFW window",
        .variable = "DISPLAY",
        .x11 = true,
        .missing = "this build has no GLFW (install libglfw3-dev, and what x11 and wayland need)",
};
ABSENT struct display_ops display_sdl = {
        .loop = "sdl",
        .name = "SDL window",
        .variable = "DISPLAY",
        .x11 = true,
        .missing = "this build has no SDL (install libsdl2-dev, and what x11 and wayland need)",
};
ABSENT struct host_ops host_appkit = {
        .missing = "this build has no AppKit (install libgnustep-gui-dev)"};
ABSENT struct display_ops display_appkit = {
        .loop = "appkit", .name = "AppKit window", .variable = "DISPLAY", .x11 = true};

#define ABSENT_MECH(id, word, text, ...)                                                           \
	ABSENT struct mech_ops mech_##id = {.name = (word), .summary = (text), __VA_ARGS__}

ABSENT_MECH(wakeup, "wakeup", "g_main_context_wakeup() for a source", .host = &host_glib);
ABSENT_MECH(idle, "idle", "g_idle_add_full()", .host = &host_glib);
ABSENT_MECH(async, "async", "uv_async_send()", .host = &host_uv);
ABSENT_MECH(invoke, "invoke", "QMetaObject::invokeMethod(), queued", .host = &host_qt);
ABSENT_MECH(emptyevent, "emptyevent", "glfwPostEmptyEvent()", .display = &display_glfw);
ABSENT_MECH(pushevent, "pushevent", "SDL_PushEvent()", .display = &display_sdl);
ABSENT_MECH(pushevent_loop, "pushevent-loop", "SDL_PushEvent()", .display = &display_sdl);
ABSENT_MECH(postevent, "postevent", "an application-defined NSEvent", .host = &host_appkit);
ABSENT_MECH(performselector, "performselector",
            "performSelectorOnMainThread:", .host = &host_appkit);
ABSENT_MECH(descriptor, "descriptor", "in the application's run loop", .host = &host_appkit);
