/* SPDX-License-Identifier: GPL-2.0 */
/* What Linux 2.6.27 answers to a system call that it has, of which it does not have everything. */
#ifndef TESTS_OLD_ANSWERS_H
#define TESTS_OLD_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What its packet sockets have. V2 came with 2.6.27; CONFIG_PACKET_MMAP could be left out. */
enum old_packets { OLD_RECV, OLD_V1, OLD_V2 };

struct old_question {
	int nr; /* SYS_* */
	const uint64_t *args;
	pid_t pid; /* of the thread that asks */
	enum old_packets packets;
};

#define OLD_ANSWERED 1 /* the call has succeeded, and returns 0 */

/* The calls to ask for, of those that 2.6.27 has; `old_asked_count` of them. */
extern const int old_asked[];
extern const unsigned int old_asked_count;

/* Returns 0 where the running kernel is to answer as it likes, OLD_ANSWERED, or -errno. */
int old_answer(const struct old_question *q);

#endif
