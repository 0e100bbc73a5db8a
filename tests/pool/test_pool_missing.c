/* Objects that are autoreleased with no pool open: how that is told. */
#include "pool_test.h"

#include <unistd.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <process.h>

#define EXPORTED __declspec(dllexport)
#else
#include <sys/stat.h>
#include <sys/wait.h>

#define EXPORTED __attribute__((visibility("default")))
#endif

static char *self;

static void ignore(void *object)
{
	(void)object;
}

/* Two call sites; exported, so that they have names. */
__attribute__((noinline)) EXPORTED void forgets_a_pool(void);
__attribute__((noinline)) EXPORTED void forgets_another(void);

void forgets_a_pool(void)
{
	EXPECT(rouse_autorelease(self, ignore) == self);
	__asm__ volatile("");
}

void forgets_another(void)
{
	EXPECT(rouse_autorelease(self, ignore) == self);
	__asm__ volatile("" ::: "memory");
}

static struct {
	void *caller[8];
	unsigned count;
} told;

static void note_site(const char *what, void *caller, void *ctx)
{
	EXPECT(ctx == &told && strstr(what, "no pool"));
	EXPECT(told.count < COUNT(told.caller));
	told.caller[told.count++] = caller;
}

static int lies_in(const void *address, void (*fn)(void))
{
	uintptr_t at = (uintptr_t)address, from = (uintptr_t)fn;

	return at > from && at < from + 4096;
}

static void forget(void)
{
	for (int i = 0; i < 3; i++) {
		forgets_a_pool();
		forgets_another();
	}
	EXPECT(thread_stats().missing == 6);
}

static void p1_each_site_is_told_once(void **state)
{
	(void)state;
	assert_int_equal(rouse_pool_set_missing((enum rouse_missing_pools)3, NULL, NULL),
	                 ROUSE_EINVAL);
	assert_int_equal(rouse_pool_set_missing(ROUSE_MISSING_WARN, note_site, &told), 0);
	on_a_thread(forget);
	on_a_thread(forget);
	assert_int_equal(told.count, 2);
	assert_true(lies_in(told.caller[0], forgets_a_pool));
	assert_true(lies_in(told.caller[1], forgets_another));
	assert_int_equal(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL), 0);
}

/* ---- The environment ------------------------------------------------------------------------ */

/* What this program says and how it ends as a process of its own, with the variable set so. */
#ifdef _WIN32
/* The child's standard error is this one's, which is a file meanwhile. */
static int run(const char *program, const char *variable, char *text, size_t size)
{
	int file, before = _dup(2), status;
	char setting[64], name[] = "pool_missing_XXXXXX";
	ssize_t got;

	assert_non_null(_mktemp(name));
	file = _open(name, _O_RDWR | _O_CREAT | _O_TRUNC | _O_TEMPORARY | _O_TEXT, 0600);
	assert_true(file >= 0 && before >= 0);
	snprintf(setting, sizeof setting, "ROUSE_MISSING_POOLS=%s", variable ? variable : "");
	assert_int_equal(_putenv(setting), 0);
	fflush(stderr);
	assert_int_equal(_dup2(file, 2), 0);
	status = (int)_spawnl(_P_WAIT, program, "test", "forget", NULL);
	assert_int_equal(_dup2(before, 2), 0);
	_close(before);
	assert_int_equal(_lseek(file, 0, SEEK_SET), 0);
	got = read(file, text, (unsigned)size - 1);
	assert_true(got >= 0);
	text[got] = 0;
	_close(file);
	return status;
}

/* As abort() of the C runtime ends a process. */
static int aborted(int status)
{
	return status == 3;
}
#else
static int aborted(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static int run(const char *program, const char *variable, char *text, size_t size)
{
	int ends[2], status;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (variable)
			setenv("ROUSE_MISSING_POOLS", variable, 1);
		else
			unsetenv("ROUSE_MISSING_POOLS");
		dup2(ends[1], 2);
		execl(program, program, "forget", (char *)NULL);
		_exit(77);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}
#endif

static unsigned lines_with(const char *text, const char *word)
{
	unsigned lines = 0;

	while ((text = strstr(text, word))) {
		lines++;
		text = strchr(text, '\n');
		if (!text)
			break;
	}
	return lines;
}

static void p1_the_environment_decides(void **state)
{
	char text[4096];
	int status;

	(void)state;
	assert_int_equal(run(self, NULL, text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(run(self, "count", text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(run(self, "nonsense", text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(run(self, "warn", text, sizeof text), 0);
	assert_int_equal(lines_with(text, "no pool"), 2);
	assert_int_equal(lines_with(text, "forgets_a_pool"), 1);
	assert_int_equal(lines_with(text, "forgets_another"), 1);
	status = run(self, "abort", text, sizeof text);
	assert_true(aborted(status));
	assert_int_equal(lines_with(text, "forgets_a_pool"), 1);
	assert_int_equal(lines_with(text, "forgets_another"), 0);
}

#ifndef _WIN32
/* A program that has more rights than its user does not listen to him.  Needs root, to make one. */
static void p1_not_of_a_program_with_rights_of_its_own(void **state)
{
	char name[] = "pool_missing_XXXXXX", command[4200], text[4096];
	int status, fd;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* Sanitizers refuse such programs. */
	skip();
#endif
	if (geteuid() != 0)
		skip();
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof command, "cp '%s' %s && chown 65534 %s && chmod 4755 %s", self,
	         name, name, name);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof command, "./%s", name);
	status = run(command, "abort", text, sizeof text);
	unlink(name);
	assert_true(WIFEXITED(status));
	/* 78: a folder in which such programs have no rights. */
	if (WEXITSTATUS(status) == 78)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(p1_each_site_is_told_once),
	        cmocka_unit_test(p1_the_environment_decides),
#ifndef _WIN32
	        cmocka_unit_test(p1_not_of_a_program_with_rights_of_its_own),
#endif
	};

	self = argv[0];
	if (argc > 1) {
#ifndef _WIN32
		if (argv[0][0] == '.' && geteuid() == getuid())
			return 78;
#endif
		on_a_thread(forget);
		return 0;
	}
	return cmocka_run_group_tests_name("pool_missing", tests, NULL, NULL);
}
