/* SPDX-License-Identifier: GPL-2.0 */
/* Ack times: how long brokers take to acknowledge, from a message's put to its DONE. Class n has
 * those of less than 2^n ms, and the last class all others. */
#ifndef COLLECTOR_SINK_ACK_TIMES_H
#define COLLECTOR_SINK_ACK_TIMES_H

#include <stdint.h>

#define ACK_TIMES 16

struct ack_times {
	uint64_t count[ACK_TIMES];
	uint64_t sum_ns;
};

static inline void ack_times_add(struct ack_times *a, uint64_t ns)
{
	unsigned int n = 0;

	while (n < ACK_TIMES - 1 && ns >= 1000000ULL << n)
		n++;
	a->count[n]++;
	a->sum_ns += ns;
}

#endif
