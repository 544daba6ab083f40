/* SPDX-License-Identifier: GPL-2.0 */
/* What `saluki status` has found (status.c) and prints (status_print.c). */
#ifndef AGENT_STATUS_H
#define AGENT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ctl.h"
#include "pinned.h"

#define STATUS_MAX 64

struct status {
	char name[64];
	bool pinned_is_there, has_agent;
	struct pinned pinned;	 /* what BPF programs were attached */
	struct ctl_answer agent; /* what the agent says */
	struct saluki_counters before, now;
	uint64_t elapsed_us; /* between the two */
	uint64_t ring_used, ring_size;
	char filter[1024];
};

/* Whether there is anything in `pinned`; where this is built without libbpf there never is, which
 * saves a kilobyte of what would be said of it. */
static inline bool status_is_pinned(const struct status *s)
{
#ifdef WITHOUT_BPF
	(void)s;
	return false;
#else
	return s->pinned_is_there;
#endif
}

struct statuses {
	unsigned int count;
	struct status list[STATUS_MAX];
};

void status_print_text(const struct statuses *all);
void status_print_json(const struct statuses *all);

#endif
