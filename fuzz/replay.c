/* Plays inputs once, without libFuzzer: the corpus as a test, and an input in words. */
#include "target.h"
#include "trace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST = 1 << 16 };

static unsigned played;

static int play_file(const char *path)
{
	static uint8_t input[LARGEST];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return 0;
	}
	size = fread(input, 1, sizeof input, file);
	fclose(file);
	trace_name(path);
	LLVMFuzzerTestOneInput(input, size);
	played++;
	return 1;
}

static int play_folder(const char *path, DIR *folder)
{
	const struct dirent *entry;
	int ok = 1;

	while (ok && (entry = readdir(folder))) {
		char file[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
		ok = play_file(file);
	}
	return ok;
}

static int play_path(const char *path)
{
	DIR *folder = opendir(path);
	int ok;

	if (!folder)
		return play_file(path);
	ok = play_folder(path, folder);
	closedir(folder);
	return ok;
}

int main(int argc, char **argv)
{
	int first = 1;

	if (argc > 1 && !strcmp(argv[1], "--print")) {
		setenv("ROUSE_FUZZ_PRINT", "1", 1);
		first++;
	}
	if (first >= argc) {
		fprintf(stderr, "usage: %s [--print] FILE|FOLDER...\n", argv[0]);
		return 2;
	}
	for (int i = first; i < argc; i++)
		if (!play_path(argv[i]))
			return 1;
	printf("%u inputs, library and model agree\n", played);
	return played ? 0 : 1;
}
