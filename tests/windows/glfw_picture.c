#include "picture.h"

#include <rouse/glfw.h>

#include <GLFW/glfw3.h>

Display *glfwGetX11Display(void);
Window glfwGetX11Window(GLFWwindow *window);

const char picture_name[] = "glfw";
static GLFWwindow *the_window;
static rouse_glfw *attached;

static void on_button(GLFWwindow *window, int button, int action, int mods)
{
	struct picture *p = glfwGetWindowUserPointer(window);

	(void)button, (void)mods;
	p->clicks += action == GLFW_PRESS;
	picture_draw(p);
}

bool picture_open(struct picture *p)
{
	const rouse_glfw_options options = {.size = sizeof(options)};

	assert_true(glfwInit());
	the_window = glfwCreateWindow(PICTURE_WIDTH, PICTURE_HEIGHT, "picture", NULL, NULL);
	if (!the_window) {
		glfwTerminate();
		return false;
	}
	glfwSetWindowUserPointer(the_window, p);
	glfwSetMouseButtonCallback(the_window, on_button);
	glfwMakeContextCurrent(the_window);
	p->display = glfwGetX11Display();
	p->window = glfwGetX11Window(the_window);
	assert_int_equal(rouse_glfw_attach(p->loop, &options, &attached), 0);
	return true;
}

static void fill(int x, int y, int width, int height, float red, float green, float blue)
{
	/* OpenGL counts from below. */
	glScissor(x, PICTURE_HEIGHT - y - height, width, height);
	glClearColor(red, green, blue, 1);
	glClear(GL_COLOR_BUFFER_BIT);
}

void picture_draw(struct picture *p)
{
	int length = (int)(p->number * PICTURE_WIDTH / PICTURE_FULL);

	glEnable(GL_SCISSOR_TEST);
	fill(0, 0, PICTURE_WIDTH, PICTURE_HEIGHT, 0, 0, 0);
	fill(0, 40, length, 40, (float)picture_red(p) / 255, (float)picture_green(p) / 255, 1);
	if (p->clicks)
		fill(10, 10, 20, 20, 1, 1, 1);
	glfwSwapBuffers(the_window);
}

void picture_close(struct picture *p)
{
	(void)p;
	assert_int_equal(rouse_glfw_detach(attached), 0);
	glfwTerminate();
}
