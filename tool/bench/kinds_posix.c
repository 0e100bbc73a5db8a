/* The loops and mechanisms of a system with descriptors. */
#include "bench/display.h"
#include "bench/host.h"
#include "bench/loops.h"
#include "bench/mech.h"
#include "bench/options.h"

const struct mech_ops *const mech_table[] = {
        &mech_wake,           &mech_post,          &mech_eventfd,
        &mech_pipe,           &mech_clientmessage, &mech_sync,
        &mech_wakeup,         &mech_idle,          &mech_async,
        &mech_invoke,         &mech_emptyevent,    &mech_pushevent,
        &mech_pushevent_loop, &mech_postevent,     &mech_performselector,
        &mech_descriptor,     &mech_floor,         NULL,
};

const struct loop_kind loop_kinds[LOOP_COUNT] = {
        [LOOP_EPOLL] = {"epoll", "epoll", NULL, NULL, "the poller epoll"},
        [LOOP_POLL] = {"poll", "poll", NULL, NULL, "the poller poll(2)"},
        [LOOP_X11] = {"x11", NULL, &display_x11, NULL,
                      "the best poller with an X11 display and a window in it"},
        [LOOP_WAYLAND] = {"wayland", NULL, &display_wayland, NULL,
                          "the best poller with a Wayland display and a window in it"},
        [LOOP_GLIB] = {"glib", "epoll", NULL, &host_glib, "as a guest of GLib's main loop"},
        [LOOP_UV] = {"uv", "epoll", NULL, &host_uv, "as a guest of libuv"},
        [LOOP_QT] = {"qt", "epoll", NULL, &host_qt,
                     "as a guest of Qt's event loop (QCoreApplication)"},
        [LOOP_GLFW] = {"glfw", NULL, &display_glfw, NULL,
                       "the best poller with a window of GLFW's in it, and GLFW's own wait"},
        [LOOP_SDL] = {"sdl", NULL, &display_sdl, NULL,
                      "the best poller with a window of SDL's in it, and SDL's own wait"},
        [LOOP_APPKIT] = {"appkit", "epoll", &display_appkit, &host_appkit,
                         "as a guest of an AppKit application (GNUstep) with a window"},
};

const unsigned loop_defaults = (1u << LOOP_COUNT) - 1;

void loops_list_limits(void)
{
}

const char options_usage[] =
        "usage: rouse bench [OPTION...]\n\n"
        "Measure how long a wakeup takes from the call on one thread to the callback on\n"
        "the loop's thread, for each mechanism on each loop.\n\n"
        "  --on LIST       loops: epoll, poll, x11, wayland, glib, uv, qt, glfw, sdl,\n"
        "                  appkit (default: all that this machine can run)\n"
        "  --mech LIST     mechanisms (default: all that the loop has; see --list)\n"
        "  --for SECONDS   how long each loop is measured (30)\n"
        "  --rate HZ       wakeups a second of each mechanism (10)\n"
        "  --fd-rate HZ    ticks a second of the external descriptor, a timerfd (7)\n"
        "  --display NAME  the X server of x11, glfw, sdl and appkit (default: $DISPLAY,\n"
        "                  else a private Xvfb; wayland: $WAYLAND_DISPLAY, else a\n"
        "                  private weston)\n"
        "  --busy US       add a callback that takes this long, 60 times a second\n"
        "  --load N        add N clients that keep the display's server busy\n"
        "  --log FILE      write every event, one per line\n"
        "  --json FILE     write the result as JSON ('-': standard output)\n"
        "  --list          show loops and mechanisms, and what is not available and why\n"
        "  --help          show this\n\n"
        "Exit status: 0 measured, 1 a wakeup was lost, 2 usage, 3 not available,\n"
        "130 interrupted (what was measured is reported).\n";
