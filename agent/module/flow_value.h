/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, value: the possible kinds of a value in a register or 8 bytes of stack, and its range. An
 * unknown value may be anything.
 */
#ifndef AGENT_MODULE_FLOW_VALUE_H
#define AGENT_MODULE_FLOW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#define FLOW_FRAMES 8	   /* MAX_CALL_FRAMES, include/linux/bpf_verifier.h */
#define FLOW_STACK_LEN 512 /* bytes of a frame: MAX_BPF_STACK, include/linux/filter.h */

enum {
	FLOW_DATA = 1 << 0,
	FLOW_MEMORY = 1 << 1, /* address of the view, of a map's value, of a ring's record */
	FLOW_MAP = 1 << 2,    /* address of a map itself */
	FLOW_STACK = 1 << 3,  /* address on the stack */
	/* An address that the verifier may take for data: */
	FLOW_LOOSE = 1 << 4, /* the whole address; arithmetic makes it a rest; */
	FLOW_REST = 1 << 5,  /* or a part of one */
};
#define FLOW_ADDRESS (FLOW_MEMORY | FLOW_MAP | FLOW_STACK | FLOW_LOOSE | FLOW_REST)

#define FLOW_FAR 0xfffe	    /* no upper bound; for data: up to 2^32 - 1 */
#define FLOW_UNKNOWN 0xffff /* unknown range */

/* All zero: not readable. */
struct flow_value {
	uint8_t may;		/* possible kinds: FLOW_ */
	uint8_t frame : 4;	/* FLOW_STACK: which frame; FLOW_FRAMES: one of several */
	uint8_t is_indexed : 1; /* the same, moved by a register: the verifier may know less of it
				 */
	uint16_t span;	/* it is from `number` to `number + span`: of FLOW_STACK bytes from the */
	int32_t number; /* frame's end, below 0; else of FLOW_DATA its value */
	uint32_t maps;	/* FLOW_MAP: possible maps, one bit each */
};

/* Data: unknown; of 1 to 8 bytes; one number; numbers from 0 up to a bound. */
struct flow_value flow_data(void);
struct flow_value flow_bytes(uint32_t len);
struct flow_value flow_number(int32_t number);
struct flow_value flow_below(uint64_t most);
bool flow_is_data(const struct flow_value *v);
/* Returns true with the number if it is one number, else false. */
bool flow_is_number(const struct flow_value *v, int32_t *number);
/* Moves its range by another's. `back`: down. */
void flow_move(struct flow_value *v, const struct flow_value *by, bool back);

/* Returns true with its maximum; false if it may be below 0 or is not known. */
bool flow_most(const struct flow_value *v, uint64_t *out);
/* Returns the possible lower half of a register. */
struct flow_value flow_lower(const struct flow_value *v);
/* Data from 0 up to `last`. */
struct flow_value flow_at_most(const struct flow_value *v, int64_t last);
/* Returns the result of an operation (BPF_ADD and so on) on data; unless `wide`, on the lower
 * halves. */
struct flow_value flow_reckon(uint8_t op, bool wide, const struct flow_value *a,
			      const struct flow_value *b);

/* Adds the possible values of `from` to `to`. Returns whether `to` has grown. */
bool flow_value_join(struct flow_value *to, const struct flow_value *from);

#endif
