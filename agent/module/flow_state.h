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

#define FLOW_REGISTERS 11
#define FLOW_FRAMES 8	     /* MAX_CALL_FRAMES, include/linux/bpf_verifier.h */
#define FLOW_SLOTS (512 / 8) /* of a frame: MAX_BPF_STACK, include/linux/filter.h */

enum {
	FLOW_DATA = 1 << 0,
	FLOW_MEMORY = 1 << 1, /* the address of the view, of a map's value, of a ring's record */
	FLOW_MAP = 1 << 2,    /* that of a map itself */
	FLOW_STACK = 1 << 3,  /* that of something on the stack */
};
#define FLOW_ADDRESS (FLOW_MEMORY | FLOW_MAP | FLOW_STACK)

struct flow_value {
	uint8_t may;   /* be: FLOW_; 0: nothing that can be read */
	uint8_t frame; /* of FLOW_STACK */
	bool known; /* `number` is: of FLOW_STACK bytes from the frame's end, below 0; of FLOW_MAP
		     * its descriptor; of nothing but FLOW_DATA its value */
	int32_t number;
};

struct flow_slot {
	struct flow_value value; /* of all its bytes together */
	uint8_t written;	 /* a bit for each byte that has been, by whichever way */
};

struct flow_state {
	struct flow_value registers[FLOW_REGISTERS];
	uint8_t frame; /* the function's that runs: of the first, 0 */
	uint8_t zeros; /* a bit a frame of which something was read that may not be written: flow.h
			*/
	struct flow_slot stack[FLOW_FRAMES][FLOW_SLOTS];
};

/* Into `to` goes what may be in `from`. Returns whether there was more. */
bool flow_value_join(struct flow_value *to, const struct flow_value *from);
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

#endif
