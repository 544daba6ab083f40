/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, state: what registers and stack may have in them, wherever a module's program is by then.
 * The more ways lead there, the more there may be: states are joined, and only grow.
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
	struct flow_value value; /* of all its bytes together */
	uint8_t written;	 /* a bit for each byte that has been, by whichever way */
};

struct flow_state {
	struct flow_value registers[FLOW_REGISTERS];
	uint8_t frame;			 /* the function's that runs: of the first, 0 */
	uint64_t unwritten[FLOW_FRAMES]; /* slots that were read and may not be written, a bit each
					  */
	struct flow_slot stack[FLOW_FRAMES][FLOW_SLOTS];
};

/* Both are of the same frame. */
bool flow_state_join(struct flow_state *to, const struct flow_state *from);
/* Frames behind the one that runs are not copied, and need no room. */
void flow_state_copy(struct flow_state *to, const struct flow_state *from);
size_t flow_state_size(const struct flow_state *s);

/* Stack from `at` on, `len` bytes of it. These return NULL, or what is wrong with that. */
/* By an instruction; 8 bytes may be an address. */
const char *flow_stack_load(struct flow_state *s, const struct flow_value *at, uint32_t len,
			    struct flow_value *out);
/* As data, by a helper. 0: up to the frame's end. */
const char *flow_stack_read(struct flow_state *s, const struct flow_value *at, uint32_t len);
/* `sure`: it is certain that it goes there. */
const char *flow_stack_store(struct flow_state *s, const struct flow_value *at, uint32_t len,
			     const struct flow_value *value, bool sure);
/* Something may have been written there, and the verifier may know less of where: then it takes
 * addresses for overwritten that are not. A store by an index does so itself. */
void flow_stack_loosen(struct flow_state *s, uint8_t frame);

#endif
