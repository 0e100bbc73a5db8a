#include "rival.h"

#include "turns.h"

#include <time.h>
#include <wayland-client.h>

static void *make_rounds(void *data)
{
	struct rival *rival = data;
	struct wl_event_queue *queue = wl_display_create_queue(rival->display);

	while (atomic_load(&rival->made) < rival->rounds) {
		if (wl_display_roundtrip_queue(rival->display, queue) < 0) {
			atomic_store(&rival->failed, true);
			break;
		}
		atomic_fetch_add(&rival->made, 1);
	}
	wl_event_queue_destroy(queue);
	return NULL;
}

void rival_start(struct rival *rival, struct wl_display *display, unsigned rounds)
{
	rival->display = display;
	rival->rounds = rounds;
	atomic_init(&rival->made, 0);
	atomic_init(&rival->failed, false);
	assert_int_equal(pthread_create(&rival->thread, NULL, make_rounds, rival), 0);
}

void rival_join(struct rival *rival)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += (time_t)(LONG / 1000 / MS);
	assert_int_equal(pthread_timedjoin_np(rival->thread, NULL, &end), 0);
	assert_false(atomic_load(&rival->failed));
	assert_int_equal(atomic_load(&rival->made), rival->rounds);
}

void rival_completes(struct wl_display *display)
{
	struct rival rival;

	rival_start(&rival, display, 1);
	rival_join(&rival);
}
