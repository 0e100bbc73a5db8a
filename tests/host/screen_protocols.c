/* As a scanner would write them; no file of theirs is installed that says it. */
#include "screen_protocols.h"

#define MESSAGES(list) (int)(sizeof(list) / sizeof *(list)), list

static const struct wl_interface *nothing[5];

/* ---- weston_screenshooter ------------------------------------------------------------ */

static const struct wl_interface *take_types[] = {&wl_output_interface, &wl_buffer_interface};
static const struct wl_message shooter_requests[] = {{"take_shot", "oo", take_types}};
static const struct wl_message shooter_events[] = {{"done", "", nothing}};
const struct wl_interface shooter_interface = {
        "weston_screenshooter", 1, MESSAGES(shooter_requests), MESSAGES(shooter_events)};

/* ---- zwlr_screencopy_manager_v1 -------------------------------------------------------- */

static const struct wl_interface *copy_types[] = {&wl_buffer_interface};
static const struct wl_message frame_requests[] = {{"copy", "o", copy_types},
                                                   {"destroy", "", nothing}};
static const struct wl_message frame_events[] = {{"buffer", "uuuu", nothing},
                                                 {"flags", "u", nothing},
                                                 {"ready", "uuu", nothing},
                                                 {"failed", "", nothing}};
const struct wl_interface frame_interface = {"zwlr_screencopy_frame_v1", 1,
                                             MESSAGES(frame_requests), MESSAGES(frame_events)};

static const struct wl_interface *output_types[] = {&frame_interface, NULL, &wl_output_interface};
static const struct wl_interface *region_types[] = {
        &frame_interface, NULL, &wl_output_interface, NULL, NULL, NULL, NULL};
static const struct wl_message copier_requests[] = {
        {"capture_output", "nio", output_types},
        {"capture_output_region", "nioiiii", region_types},
        {"destroy", "", nothing}};
const struct wl_interface copier_interface = {"zwlr_screencopy_manager_v1", 1,
                                              MESSAGES(copier_requests), 0, NULL};

/* ---- zwlr_virtual_pointer_manager_v1 ----------------------------------------------------- */

static const struct wl_message pointer_requests[] = {
        {"motion", "uff", nothing}, {"motion_absolute", "uuuuu", nothing},
        {"button", "uuu", nothing}, {"axis", "uuf", nothing},
        {"frame", "", nothing},
};
const struct wl_interface pointer_interface = {"zwlr_virtual_pointer_v1", 1,
                                               MESSAGES(pointer_requests), 0, NULL};

static const struct wl_interface *create_types[] = {&wl_seat_interface, &pointer_interface};
static const struct wl_message pointers_requests[] = {
        {"create_virtual_pointer", "?on", create_types}};
const struct wl_interface pointers_interface = {"zwlr_virtual_pointer_manager_v1", 1,
                                                MESSAGES(pointers_requests), 0, NULL};
