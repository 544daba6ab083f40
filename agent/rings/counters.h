/* SPDX-License-Identifier: GPL-2.0 */
/* Counters: reads an interface's counters (saluki/record.h), one slot per CPU, in mapped memory.
 * Needs no privilege. */
#ifndef AGENT_RINGS_COUNTERS_H
#define AGENT_RINGS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

struct counters {
	const struct saluki_counters *slots; /* NULL: not mapped */
	size_t len;			     /* bytes mapped */
	uint32_t cpus;
};

/* Maps the slots of `cpus` CPUs of the map `map_fd`, which the caller keeps. Returns 0 or
 * -errno. */
int counters_map(struct counters *c, int map_fd, uint32_t cpus);
/* Returns the sum of all slots. Any thread. */
void counters_sum(const struct counters *c, struct saluki_counters *out);
void counters_unmap(struct counters *c);

#endif
