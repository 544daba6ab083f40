/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quota: lines for people that strangers can cause. At most QUOTA_BURST lines come at once, then
 * one every QUOTA_EVERY_NS, and the same thing is said once in QUOTA_AGAIN_NS. Lines that have to
 * wait are kept, the newest of each source; a random one of them is printed when it is time. So
 * many lines from one source cannot hide the line from another one.
 */
#ifndef COLLECTOR_QUOTA_H
#define COLLECTOR_QUOTA_H

#include <stdint.h>

#define QUOTA_AGAIN_NS 60000000000ULL
#define QUOTA_BURST 8
#define QUOTA_EVERY_NS 7500000000ULL
#define QUOTA_WAITING 16 /* sources */
#define QUOTA_TEXT_MAX 320
/* Lines in QUOTA_AGAIN_NS, at most. */
#define QUOTA_TOLD (QUOTA_BURST + QUOTA_AGAIN_NS / QUOTA_EVERY_NS)

struct quota {
	struct {
		uint64_t what, told_ns; /* monotonic; 0: free */
	} told[QUOTA_TOLD];
	unsigned int told_next;
	struct quota_line {
		uint64_t source, what, ns; /* ns: when it was given; 0: free */
		char text[QUOTA_TEXT_MAX];
	} waiting[QUOTA_WAITING];
	uint64_t spent_ns; /* the quota is used up to this time */
	uint64_t left_out; /* lines that were dropped since the last one was printed */
};

/* Something is to be said about `what`, which `source` has caused. Both are hashes. Returns where
 * to write the line, QUOTA_TEXT_MAX bytes, or NULL: that was said lately. After it was written
 * quota_print() is to be called. */
char *quota_line(struct quota *q, uint64_t source, uint64_t what, uint64_t now_ns);
/* Prints a line that waits, if it is time to. */
void quota_print(struct quota *q, uint64_t now_ns);

#endif
