/* An SDL window that a worker thread posts to 20 times; each post makes it brighter. */
#include <rouse/sdl.h>

#include <SDL.h>
#include <stdio.h>

enum { STEPS = 20 };

struct app {
	SDL_Window *window;
	rouse_remote *remote;
	int steps; /* the loop's: a post is never merged with another */
};

static void draw(struct app *app)
{
	SDL_Surface *surface = SDL_GetWindowSurface(app->window);
	Uint8 shade = (Uint8)(255 * app->steps / STEPS);

	SDL_FillRect(surface, NULL, SDL_MapRGB(surface->format, shade, shade, 128));
	SDL_UpdateWindowSurface(app->window);
}

/* Each event that SDL_PollEvent() would return. */
static void event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	(void)sdl;
	if (event->type == SDL_WINDOWEVENT && event->window.event == SDL_WINDOWEVENT_EXPOSED)
		draw(data);
	else if (event->type == SDL_QUIT ||
	         (event->type == SDL_KEYDOWN && event->key.keysym.sym == SDLK_ESCAPE))
		rouse_loop_stop(loop);
}

static void step(rouse_loop *loop, void *data)
{
	struct app *app = data;

	app->steps++;
	draw(app);
	if (app->steps == STEPS)
		rouse_loop_stop(loop);
}

static int work(void *data)
{
	struct app *app = data;

	for (int i = 0; i < STEPS && rouse_post(app->remote, step, app, NULL) >= 0; i++)
		SDL_Delay(20);
	return 0;
}

int main(int argc, char **argv)
{
	struct app app = {0};
	rouse_sdl_options options = {.size = sizeof(options), .data = &app, .event = event};
	SDL_Thread *worker;
	rouse_loop *loop;
	rouse_sdl *sdl;

	(void)argc, (void)argv; /* SDL wants a main() that has them */
	if (SDL_Init(SDL_INIT_VIDEO) ||
	    !(app.window = SDL_CreateWindow("rouse", 0, 0, 220, 100, SDL_WINDOW_RESIZABLE)))
		return puts("SKIP: no window"), 77;
	options.window = app.window;
	if (rouse_loop_create(NULL, &loop) || rouse_sdl_attach(loop, &options, &sdl) ||
	    !(app.remote = rouse_loop_remote(loop)) ||
	    !(worker = SDL_CreateThread(work, "worker", &app)))
		return 1;
	rouse_loop_run(loop);
	SDL_WaitThread(worker, NULL);
	printf("%d steps\n", app.steps);
	rouse_remote_unref(app.remote);
	rouse_sdl_detach(sdl);
	SDL_Quit();
	return rouse_loop_destroy(loop);
}
