// SPDX-License-Identifier: GPL-2.0
/* Counters of the capture programs: see counters.h. */
#include "counters.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int counters_map(struct counters *c, int map_fd, uint32_t cpus)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	c->cpus = cpus;
	c->len = (cpus * sizeof(*c->slots) + page - 1) & ~(page - 1);
	p = mmap(NULL, c->len, PROT_READ, MAP_SHARED, map_fd, 0);
	c->slots = p == MAP_FAILED ? NULL : p;
	return c->slots ? 0 : -errno;
}

void counters_sum(const struct counters *c, struct saluki_counters *out)
{
	__u64 *sum = (__u64 *)out;

	memset(out, 0, sizeof(*out));
	for (uint32_t cpu = 0; cpu < c->cpus; cpu++) {
		const __u64 *slot = (const __u64 *)&c->slots[cpu];

		for (size_t i = 0; i < sizeof(*out) / sizeof(__u64); i++)
			sum[i] += __atomic_load_n(&slot[i], __ATOMIC_RELAXED);
	}
}

void counters_unmap(struct counters *c)
{
	if (c->slots)
		munmap((void *)c->slots, c->len);
	memset(c, 0, sizeof(*c));
}
