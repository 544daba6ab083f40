/* SPDX-License-Identifier: GPL-2.0 */
/* Reader of an interface's counters (saluki/record.h): a slot a CPU, in a map that is mapped. Needs
 * no privilege. */
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

/* Maps the slots of `cpus` CPUs behind `map_fd`, which stays the caller's. Returns 0 or -errno. */
int counters_map(struct counters *c, int map_fd, uint32_t cpus);
/* The sum of all slots so far. Any thread. */
void counters_sum(const struct counters *c, struct saluki_counters *out);
void counters_unmap(struct counters *c);

#endif
