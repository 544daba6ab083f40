/* SPDX-License-Identifier: GPL-2.0 */
/* Status: the data that `saluki status` collects (status.c) and prints (status_print.c). */
#ifndef AGENT_STATUS_H
#define AGENT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/status/status_socket.h"
#include "pinned.h"

#define STATUS_MAX 64

/* Builds without libbpf have no pins, and save two kilobytes of code about them. */
#ifdef WITHOUT_BPF
#define STATUS_PINS 0
#else
#define STATUS_PINS 1
#endif

struct status {
	char name[64];
	bool pinned_is_there, agent_is_there;
	struct pinned pinned;		   /* the attached BPF programs */
	struct status_socket_answer agent; /* the agent's answer */
	struct saluki_counters before, now;
	uint64_t elapsed_us; /* between the two readings */
	uint64_t ring_used, ring_size;
	char filter[1024], modules[320];
	struct interface_state link;
};

/* Whether `pinned` is set. */
static inline bool status_is_pinned(const struct status *s)
{
	return STATUS_PINS && s->pinned_is_there;
}

/* At least one of the two is set. */
static inline bool status_has_agent(const struct status *s)
{
	return !status_is_pinned(s) || s->agent_is_there;
}

struct statuses {
	unsigned int count;
	struct status list[STATUS_MAX];
};

void status_print_text(const struct statuses *all);
void status_print_json(const struct statuses *all);

#endif
