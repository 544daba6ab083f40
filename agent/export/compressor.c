// SPDX-License-Identifier: GPL-2.0
/* Compressor: see compressor.h. */
#include "compressor.h"

#include "agent/source/clock.h"

int compressor_init(struct compressor *c, int level, bool fixed, size_t combo_size)
{
	int strongest;

	level_init(&c->level, level == LEVEL_AUTO && !fixed,
		   level == LEVEL_AUTO ? LEVEL_USUAL : level);
	strongest = level_strongest(&c->level);
	return strongest == COMPRESS_NONE ? 0 : compress_init(&c->compress, strongest, combo_size);
}

void compressor_free(struct compressor *c)
{
	compress_free(&c->compress);
}

static uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

size_t compressor_run(struct compressor *c, const struct combo *combo, uint8_t *wire,
		      const struct compressor_sight *sight, bool queue_full, uint32_t ring_used)
{
	unsigned int waits = __atomic_load_n(&sight->waits, __ATOMIC_RELAXED);
	const struct level_sight s = {
		.queue_full = queue_full,
		.blocked = waits != c->waits,
		.ring_used = ring_used,
		.store_used = __atomic_load_n(&sight->store_used, __ATOMIC_RELAXED),
		.body_len = c->body_len,
		.now_ns = monotonic_ns(),
		.cpu_ns = thread_cpu_ns,
	};

	c->waits = waits;
	c->body_len = combo->body_len;
	compress_set_level(&c->compress, level_next(&c->level, &s));
	return COMBO_HEADER_LEN + compress_combo(&c->compress, wire + COMBO_HEADER_LEN, combo->body,
						 combo->body_len, combo->dense_len);
}
