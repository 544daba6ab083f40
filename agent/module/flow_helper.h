/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, helper: the effect of a helper's call on registers and stack. A helper takes data and
 * addresses of data, and returns data or an address.
 */
#ifndef AGENT_MODULE_FLOW_HELPER_H
#define AGENT_MODULE_FLOW_HELPER_H

#include <linux/bpf.h>
#include <stddef.h>

#include "flow_state.h"

struct flow_map {
	int fd;
	uint32_t type, key_len, value_len;
};

/* The module's maps. */
struct flow_maps {
	const struct flow_map *all;
	size_t count;
};

/* Returns the map's bit in struct flow_value. All maps beyond 31 share a bit. */
uint32_t flow_map_bit(size_t n);
/* Returns NULL, or the forbidden action. */
const char *flow_helper(struct flow_state *s, const struct bpf_insn *i,
			const struct flow_maps *maps);

#endif
