/*
 * test_pool_dlopen GREEDY LIBRARY loads|refused: the library is loaded by a program that has loaded
 * one before that has taken most of the static thread-local space.  It loads and works, or is
 * refused in words that say why.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rouse/pool.h>

static rouse_pool (*push)(void);
static int (*pop)(rouse_pool pool);
static void *(*autorelease)(void *object, rouse_release_fn release);
static int released;

static void release(void *object)
{
	++*(int *)object;
}

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	return found;
}

static void *use(void *data)
{
	rouse_pool pool = push();

	for (int i = 0; i < 1000; i++)
		if (autorelease(data, release) != data)
			return data;
	if (pop(pool) != 0)
		return data;
	return autorelease(data, release) == data ? NULL : data;
}

int main(int argc, char **argv)
{
	void *library, *symbol, *failed;
	pthread_t thread;
	const char *why;

	if (argc != 4)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "-") && !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 77;
	}
	library = dlopen(argv[2], RTLD_NOW);
	if (!library) {
		why = dlerror();
		fprintf(stderr, "%s\n", why);
		return !strcmp(argv[3], "refused") && strstr(why, "static TLS") ? 0 : EXIT_FAILURE;
	}
	if (strcmp(argv[3], "loads"))
		return EXIT_FAILURE;
	symbol = function(library, "rouse_pool_push");
	memcpy(&push, &symbol, sizeof push);
	symbol = function(library, "rouse_pool_pop");
	memcpy(&pop, &symbol, sizeof pop);
	symbol = function(library, "rouse_autorelease");
	memcpy(&autorelease, &symbol, sizeof autorelease);
	if (pthread_create(&thread, NULL, use, &released) || pthread_join(thread, &failed))
		return EXIT_FAILURE;
	return !failed && released == 1001 ? EXIT_SUCCESS : EXIT_FAILURE;
}
