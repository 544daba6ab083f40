/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, state: the possible contents of registers and stack at one point of a module's program.
 * States of several paths are joined, and only grow.
 */
#ifndef AGENT_MODULE_FLOW_STATE_H
#define AGENT_MODULE_FLOW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow_value.h"

#define FLOW_REGISTERS 11
#define FLOW_SLOTS (FLOW_STACK_LEN / 8)

struct flow_slot {
	struct flow_value value; /* possible values of all bytes together */
	uint8_t written;	 /* a bit per byte that was written on every path */
};

struct flow_state {
	struct flow_value registers[FLOW_REGISTERS];
	uint8_t frame;			 /* frame of the current function; the first is 0 */
	uint64_t unwritten[FLOW_FRAMES]; /* slots read that may be unwritten, one bit each
					  */
	struct flow_slot stack[FLOW_FRAMES][FLOW_SLOTS];
};

/* Joins `from` into `to`, of the same frame. Returns whether `to` has grown. */
bool flow_state_join(struct flow_state *to, const struct flow_state *from);
/* Frames after the current one are not copied, and need no memory. */
void flow_state_copy(struct flow_state *to, const struct flow_state *from);
size_t flow_state_size(const struct flow_state *s);

/* Accesses to `len` bytes of stack from `at` on. These return NULL, or the reason why an access is
 * forbidden. */
/* A load by an instruction; 8 bytes may be an address. */
const char *flow_stack_load(struct flow_state *s, const struct flow_value *at, uint32_t len,
			    struct flow_value *out);
/* A read of data by a helper. `len` 0: up to the frame's end. */
const char *flow_stack_read(struct flow_state *s, const struct flow_value *at, uint32_t len);
/* `sure`: the store certainly happens at this place. */
const char *flow_stack_store(struct flow_state *s, const struct flow_value *at, uint32_t len,
			     const struct flow_value *value, bool sure);
/* The verifier may know less about the place of a write than we do, and take intact addresses for
 * overwritten. This marks the frame's addresses so. A store at an index does it itself. */
void flow_stack_loosen(struct flow_state *s, uint8_t frame);

#endif
