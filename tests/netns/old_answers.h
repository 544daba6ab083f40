/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 2.6.27's answers to system calls that it has, but with fewer features. */
#ifndef TESTS_OLD_ANSWERS_H
#define TESTS_OLD_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The packet sockets' features. V2 came with 2.6.27; CONFIG_PACKET_MMAP could be left out. */
enum old_packets { OLD_RECV, OLD_V1, OLD_V2 };

struct old_question {
	int nr; /* SYS_* */
	const uint64_t *args;
	pid_t pid; /* of the calling thread */
	enum old_packets packets;
};

#define OLD_ANSWERED 1 /* the call succeeded, and returns 0 */

/* The calls of 2.6.27 that need an answer; `old_asked_count` of them. */
extern const int old_asked[];
extern const unsigned int old_asked_count;

/* Returns 0 if the running kernel answers itself, OLD_ANSWERED, or -errno. */
int old_answer(const struct old_question *q);

#endif
