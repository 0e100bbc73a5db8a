/* A GLFW window that a worker thread posts to 20 times; each post makes it brighter. */
#include <rouse/glfw.h>

#include <GLFW/glfw3.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = 20 };

static GLFWwindow *window;
static rouse_remote *remote;
static int steps; /* the loop's: a post is never merged with another */

static void draw(GLFWwindow *of)
{
	float shade = (float)steps / STEPS;

	glClearColor(shade, shade, 0.5f, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glfwSwapBuffers(of);
}

static void on_key(GLFWwindow *of, int key, int scancode, int action, int mods)
{
	(void)scancode, (void)mods;
	if (key == GLFW_KEY_ESCAPE && action == GLFW_PRESS)
		glfwSetWindowShouldClose(of, GLFW_TRUE);
}

/* After each glfwPollEvents() of the loop's. */
static void after(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	(void)glfw, (void)data;
	if (glfwWindowShouldClose(window))
		rouse_loop_stop(loop);
}

static void step(rouse_loop *loop, void *data)
{
	(void)data;
	steps++;
	draw(window);
	if (steps == STEPS)
		rouse_loop_stop(loop);
}

static void *work(void *data)
{
	for (int i = 0; i < STEPS && rouse_post(remote, step, NULL, NULL) >= 0; i++)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	return data;
}

int main(void)
{
	rouse_glfw_options options = {.size = sizeof(options), .after = after};
	pthread_t worker;
	rouse_loop *loop;
	rouse_glfw *glfw;

	if (!glfwInit() || !(window = glfwCreateWindow(220, 100, "rouse", NULL, NULL)))
		return puts("SKIP: no window"), 77;
	glfwMakeContextCurrent(window);
	glfwSetWindowRefreshCallback(window, draw);
	glfwSetKeyCallback(window, on_key);
	if (rouse_loop_create(NULL, &loop) || rouse_glfw_attach(loop, &options, &glfw) ||
	    !(remote = rouse_loop_remote(loop)) || pthread_create(&worker, NULL, work, NULL))
		return 1;
	rouse_loop_run(loop);
	pthread_join(worker, NULL);
	printf("%d steps\n", steps);
	rouse_remote_unref(remote);
	rouse_glfw_detach(glfw);
	glfwTerminate();
	return rouse_loop_destroy(loop);
}
