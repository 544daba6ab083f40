/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, value: what a register or 8 bytes of the stack may be, and the range that it is in. What is
 * not known may be any.
 */
#ifndef AGENT_MODULE_FLOW_VALUE_H
#define AGENT_MODULE_FLOW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#define FLOW_FRAMES 8	   /* MAX_CALL_FRAMES, include/linux/bpf_verifier.h */
#define FLOW_STACK_LEN 512 /* bytes of a frame: MAX_BPF_STACK, include/linux/filter.h */

enum {
	FLOW_DATA = 1 << 0,
	FLOW_MEMORY = 1 << 1, /* the address of the view, of a map's value, of a ring's record */
	FLOW_MAP = 1 << 2,    /* that of a map itself */
	FLOW_STACK = 1 << 3,  /* that of something on the stack */
	/* For the verifier an address may have become data: */
	FLOW_LOOSE = 1 << 4, /* as a whole; arithmetic on, it is a rest; */
	FLOW_REST = 1 << 5,  /* or what is left of it */
};
#define FLOW_ADDRESS (FLOW_MEMORY | FLOW_MAP | FLOW_STACK | FLOW_LOOSE | FLOW_REST)

#define FLOW_FAR 0xfffe	    /* it is not known how far up; of data: up to 2^32 - 1 */
#define FLOW_UNKNOWN 0xffff /* nothing is */

/* All zero: nothing that can be read. */
struct flow_value {
	uint8_t may;		/* be: FLOW_ */
	uint8_t frame : 4;	/* of FLOW_STACK; FLOW_FRAMES: one of several */
	uint8_t is_indexed : 1; /* the same, moved by a register: the verifier may know less of it
				 */
	uint16_t span;	/* it is from `number` to `number + span`: of FLOW_STACK bytes from the */
	int32_t number; /* frame's end, below 0; else of FLOW_DATA its value */
	uint32_t maps;	/* of FLOW_MAP which, a bit each */
};

/* Data, of which nothing is known; so many bytes, 1 to 8; one number; numbers from 0 up to one. */
struct flow_value flow_data(void);
struct flow_value flow_bytes(uint32_t len);
struct flow_value flow_number(int32_t number);
struct flow_value flow_below(uint64_t most);
bool flow_is_data(const struct flow_value *v);
/* The one number that it is; else false. */
bool flow_is_number(const struct flow_value *v, int32_t *number);
/* Its range, moved by another's. `back`: down. */
void flow_move(struct flow_value *v, const struct flow_value *by, bool back);

/* The most that it can be; false: it may be below 0, too, or is not known. */
bool flow_most(const struct flow_value *v, uint64_t *out);
/* What a register's lower half may be, where nothing else is known of it. */
struct flow_value flow_lower(const struct flow_value *v);
/* Data that is no more than `last`, 0 or more. */
struct flow_value flow_at_most(const struct flow_value *v, int64_t last);
/* What an operation (BPF_ADD and so on) makes of data and data; where it is not wide, of their
 * lower halves. */
struct flow_value flow_reckon(uint8_t op, bool wide, const struct flow_value *a,
			      const struct flow_value *b);

/* Into `to` goes what may be in `from`. Returns whether there was more. */
bool flow_value_join(struct flow_value *to, const struct flow_value *from);

#endif
