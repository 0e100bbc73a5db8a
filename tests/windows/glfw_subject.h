#ifndef ROUSE_TESTS_GLFW_SUBJECT_H
#define ROUSE_TESTS_GLFW_SUBJECT_H

#include "subject.h"

#include <rouse/glfw.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* Of glfw3native.h, which needs headers of extensions that nothing here does.  GLFW 3.3 has what
 * the one platform needs that it was built for. */
struct _XDisplay *glfwGetX11Display(void) __attribute__((weak));
unsigned long glfwGetX11Window(GLFWwindow *window) __attribute__((weak));
struct wl_display *glfwGetWaylandDisplay(void) __attribute__((weak));

rouse_glfw_options glfw_subject_options(struct subject *s);
/* NULL where there is no window of that kind. */
GLFWwindow *glfw_subject_window(int client_api);

#endif
