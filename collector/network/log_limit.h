/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log limit: limits log lines that strangers can cause. At most LOG_LIMIT_BURST lines are printed
 * at once, then one per LOG_LIMIT_EVERY_NS, and the same line once per LOG_LIMIT_AGAIN_NS. The
 * newest line of each source waits for its turn, and turns go to random waiting lines. So many
 * lines of one source cannot hide another source's line.
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
/* The most lines in LOG_LIMIT_AGAIN_NS. */
#define LOG_LIMIT_LOGGED (LOG_LIMIT_BURST + LOG_LIMIT_AGAIN_NS / LOG_LIMIT_EVERY_NS)

struct log_limit {
	struct {
		uint64_t what, logged_ns; /* monotonic; 0: free */
	} logged[LOG_LIMIT_LOGGED];
	unsigned int logged_next;
	struct log_limit_line {
		uint64_t source, what, ns; /* ns: time of the call; 0: free */
		char text[LOG_LIMIT_TEXT_MAX];
	} waiting[LOG_LIMIT_WAITING];
	uint64_t spent_ns; /* the quota is used up to this time */
	uint64_t left_out; /* lines dropped since the last printed one */
};

/* Logs a line about `what`, caused by `source`; both are hashes. Prints it now, lets it wait, or
 * drops it if it was printed recently. */
__attribute__((format(printf, 5, 6))) void log_limit_line(struct log_limit *q, uint64_t source,
							  uint64_t what, uint64_t now_ns,
							  const char *format, ...);
/* Whether a line about `what` was printed recently, so that a new one would be dropped. */
bool log_limit_was_logged(const struct log_limit *q, uint64_t what, uint64_t now_ns);

#endif
