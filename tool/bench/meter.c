#include "bench/meter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *alloc_touched(size_t count, size_t size)
{
	void *memory = malloc(count * size);

	if (memory)
		memset(memory, 0xff, count * size);
	return memory;
}

int meter_open(struct meter *m, size_t cap)
{
	memset(m, 0, sizeof *m);
	m->cap = cap;
	m->stamp = alloc_touched(cap, sizeof *m->stamp);
	m->latency = alloc_touched(cap, sizeof *m->latency);
	m->at = alloc_touched(cap, sizeof *m->at);
	m->together = alloc_touched(cap, sizeof *m->together);
	if (m->stamp && m->latency && m->at && m->together)
		return 0;
	meter_close(m);
	return -1;
}

void meter_close(struct meter *m)
{
	free(m->stamp);
	free(m->latency);
	free(m->at);
	free(m->together);
	memset(m, 0, sizeof *m);
}

void meter_fire(struct meter *m, rouse_ns stamp)
{
	size_t i = atomic_load_explicit(&m->fired, memory_order_relaxed);

	assert(i < m->cap);
	m->stamp[i] = stamp;
	atomic_store_explicit(&m->fired, i + 1, memory_order_release);
}

static void record(struct meter *m, rouse_ns stamp, rouse_ns now, size_t together)
{
	size_t i = atomic_load_explicit(&m->answered, memory_order_relaxed);

	m->latency[i] = now > stamp ? now - stamp : 0;
	m->at[i] = now;
	m->together[i] = (uint32_t)together;
	atomic_store_explicit(&m->answered, i + 1, memory_order_release);
}

void meter_answer_all(struct meter *m, rouse_ns now, rouse_ns lost)
{
	size_t fired = atomic_load_explicit(&m->fired, memory_order_acquire);
	size_t count;

	/* Stamps ascend: what was lost comes first. */
	for (; m->taken < fired && m->stamp[m->taken] < lost; m->taken++)
		atomic_fetch_add_explicit(&m->rescued, 1, memory_order_release);
	count = fired - m->taken;
	for (size_t i = 0; i < count; i++)
		record(m, m->stamp[m->taken++], now, count);
	if (count > 1)
		m->coalesced += count - 1;
}

void meter_answer_stamps(struct meter *m, const rouse_ns *stamps, size_t count, rouse_ns now)
{
	size_t fired = atomic_load_explicit(&m->fired, memory_order_acquire);
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = m->taken;

		while (at < fired && m->stamp[at] != stamps[i])
			at++;
		if (at == fired) {
			m->strays++;
			continue;
		}
		m->taken = at + 1;
		known++;
		record(m, stamps[i], now, count);
	}
	if (known > 1)
		m->coalesced += known - 1;
}

size_t meter_open_stamps(struct meter *m)
{
	size_t done = atomic_load_explicit(&m->answered, memory_order_acquire) +
	              atomic_load_explicit(&m->rescued, memory_order_acquire);

	return atomic_load_explicit(&m->fired, memory_order_acquire) - done;
}
