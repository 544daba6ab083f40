/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log limit: lines for people that strangers can cause. At most LOG_LIMIT_BURST lines come at once,
 * then one every LOG_LIMIT_EVERY_NS, and the same thing is said once in LOG_LIMIT_AGAIN_NS. Lines
 * that have to wait are kept, the newest of each source; a random one of them is printed when it is
 * time. So many lines from one source cannot hide the line from another one.
 */
#ifndef COLLECTOR_NETWORK_LOG_LIMIT_H
#define COLLECTOR_NETWORK_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_AGAIN_NS 60000000000ULL
#define LOG_LIMIT_BURST 8
#define LOG_LIMIT_EVERY_NS 7500000000ULL
#define LOG_LIMIT_WAITING 16 /* sources */
#define LOG_LIMIT_TEXT_MAX 320
/* Lines in LOG_LIMIT_AGAIN_NS, at most. */
#define LOG_LIMIT_TOLD (LOG_LIMIT_BURST + LOG_LIMIT_AGAIN_NS / LOG_LIMIT_EVERY_NS)

struct log_limit {
	struct {
		uint64_t what, told_ns; /* monotonic; 0: free */
	} told[LOG_LIMIT_TOLD];
	unsigned int told_next;
	struct log_limit_line {
		uint64_t source, what, ns; /* ns: when it was given; 0: free */
		char text[LOG_LIMIT_TEXT_MAX];
	} waiting[LOG_LIMIT_WAITING];
	uint64_t spent_ns; /* the quota is used up to this time */
	uint64_t left_out; /* lines that were dropped since the last one was printed */
};

/* Says something about `what`, which `source` has caused; both are hashes. The line is printed now,
 * or waits, or is dropped as it was said lately. */
__attribute__((format(printf, 5, 6))) void log_limit_say(struct log_limit *q, uint64_t source,
							 uint64_t what, uint64_t now_ns,
							 const char *format, ...);
/* Whether it was: then the line need not be composed. */
bool log_limit_was_told(const struct log_limit *q, uint64_t what, uint64_t now_ns);

#endif
