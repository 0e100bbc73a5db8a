/* rouse-post: a function posted to the loop, run once per call; the stamp goes with it. */
#include "bench/mech.h"

#include <stdlib.h>

struct post {
	struct mech *m;
	rouse_ns stamp;
};

struct posts {
	rouse_remote *remote;
	size_t next;        /* The worker's. */
	struct post post[]; /* One for each call: the run allocates nothing. */
};

static void on_post(rouse_loop *loop, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	const struct post *post = data;

	mech_answer_stamps(post->m, &post->stamp, 1, now);
}

static int post_open(struct mech *m)
{
	struct posts *posts = malloc(sizeof *posts + m->meter.cap * sizeof posts->post[0]);

	if (!posts)
		return ROUSE_ENOMEM;
	for (size_t i = 0; i < m->meter.cap; i++)
		posts->post[i] = (struct post){m, 0};
	posts->remote = rouse_loop_remote(m->loop);
	posts->next = 0;
	m->handle = posts;
	m->turns->posts = &m->meter;
	return 0;
}

static int post_fire(struct mech *m, rouse_ns stamp)
{
	struct posts *posts = m->handle;
	struct post *post = &posts->post[posts->next++];

	post->stamp = stamp;
	return rouse_post(posts->remote, on_post, post, NULL);
}

/* What is queued still is not run any more: nothing turns the loop after this. */
static void post_close(struct mech *m)
{
	struct posts *posts = m->handle;

	m->turns->posts = NULL;
	rouse_remote_unref(posts->remote);
	free(posts);
}

const struct mech_ops mech_post = {
        .name = "rouse-post",
        .summary = "rouse_post() of a function",
        .open = post_open,
        .fire = post_fire,
        .close = post_close,
};
