/* SPDX-License-Identifier: GPL-2.0 */
/* Pinned: reads an interface's pins for `saluki status` and `detach`. Changes nothing; an agent may
 * be running. */
#ifndef AGENT_PINNED_H
#define AGENT_PINNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

#include "agent/rings/counters.h"
#include "agent/tap/maps.h"

struct pinned {
	struct saluki_config config;
	struct counters counters;
	int filter_fd;
	struct maps maps;
};

/* Whether an interface has complete pins. */
bool pinned_is(const char *interface);
/* Returns 0, -ENOENT without pins, -EPROTO for another layout, or another -errno. */
int pinned_open(struct pinned *p, const char *interface);
void pinned_close(struct pinned *p);

/* Reads the counters. */
void pinned_counters(const struct pinned *p, struct saluki_counters *out);
/* Reads the filter's text, "" without one. Returns 0 or -errno. */
int pinned_filter(const struct pinned *p, char *text, size_t len);
/* Lists the names of loaded modules, separated by ", ". */
void pinned_modules(const char *interface, char *text, size_t len);
/* Reads the ring's used bytes, and its size. */
int pinned_ring_fill(const struct pinned *p, uint64_t *used, uint64_t *size);
/* Counts the frames in the ring that are not exported, for all interfaces that share it. */
uint64_t pinned_in_ring(const struct pinned *p);

#endif
