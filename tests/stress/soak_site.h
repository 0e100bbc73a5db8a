/* Between a site's life (soak_site.c) and what runs in it (soak_serve.c). */
#ifndef TESTS_STRESS_SOAK_SITE_H
#define TESTS_STRESS_SOAK_SITE_H

#include "soak.h"

#define SOAK_MS UINT64_C(1000000)
#define SOAK_BEAT (100 * SOAK_MS)

void soak_must(int result, const char *what);

void soak_woken(rouse_loop *loop, void *bell);
void soak_signalled(rouse_loop *loop, rouse_source self, int signo, void *site);
void soak_bytes_came(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *lane);
void soak_events_came(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                      void *lane);
void soak_one_shot_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *timer);
void soak_periodic_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *timer);
void soak_beat(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *timer);

void soak_start_periods(struct soak_site *site);
void soak_churn_remove(struct soak_site *site);

#endif
