#ifndef ROUSE_TESTS_GLFW_SUBJECT_H
#define ROUSE_TESTS_GLFW_SUBJECT_H

#include "subject.h"

#include <rouse/glfw.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* Of glfw3native.h, which needs headers of extensions that nothing here does. */
Display *glfwGetX11Display(void);
Window glfwGetX11Window(GLFWwindow *window);

rouse_glfw_options glfw_subject_options(struct subject *s);
/* NULL where there is no window of that kind. */
GLFWwindow *glfw_subject_window(int client_api);

#endif
