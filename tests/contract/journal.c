#include "journal.h"

struct journal j;

static char letters[26]; /* their addresses are the data */

void write_down(char c)
{
	assert_true(j.length + 1 < (int)sizeof j.text);
	j.text[j.length++] = c;
	j.text[j.length] = 0;
}

void run_letter(rouse_loop *loop, void *data)
{
	(void)loop;
	write_down((char)('a' + ((char *)data - letters)));
}

void cancel_letter(void *data)
{
	write_down((char)('A' + ((char *)data - letters)));
}

void *of(char letter)
{
	return &letters[letter - 'a'];
}

void post(char letter)
{
	assert_int_equal(rouse_post(j.remote, run_letter, of(letter), cancel_letter), 0);
}

void post_all(const char *text)
{
	for (; *text; text++)
		post(*text);
}

int begin(void **state, unsigned max_batch)
{
	j = (struct journal){.env = *state};
	if (max_batch) {
		env_close(j.env);
		env_open(j.env, max_batch);
	}
	j.remote = rouse_loop_remote(j.env->loop);
	env_drain(j.env);
	return 0;
}

int cancel(char letter)
{
	return rouse_cancel_posts(j.env->loop, of(letter));
}

void expect(const char *text)
{
	env_drain(j.env);
	assert_string_equal(j.text, text);
	rouse_remote_unref(j.remote);
}
