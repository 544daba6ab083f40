/* SPDX-License-Identifier: GPL-2.0 */
/* What is pinned of an interface, looked at from outside: for `saluki status` and `detach`. Nothing
 * is changed; an agent may be running. */
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

/* Whether something of ours is pinned for an interface, and not only being made. */
bool pinned_is(const char *interface);
/* Returns 0, -ENOENT where nothing is pinned, -EPROTO where it is of another layout, or -errno. */
int pinned_open(struct pinned *p, const char *interface);
void pinned_close(struct pinned *p);

/* The counters now. */
void pinned_counters(const struct pinned *p, struct saluki_counters *out);
/* Text of the filter, "" without one. Returns 0 or -errno. */
int pinned_filter(const struct pinned *p, char *text, size_t len);
/* Names of the modules that were loaded, divided by ", ". */
void pinned_modules(const char *interface, char *text, size_t len);
/* Bytes used of the ring, and of all there are. */
int pinned_ring_fill(const struct pinned *p, uint64_t *used, uint64_t *size);
/* Frames of all that share the ring that are in it and not exported. */
uint64_t pinned_in_ring(const struct pinned *p);

#endif
