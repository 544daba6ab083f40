/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Live: shows written combos to viewers, in memory that both share (wire/live.h). The privileged
 * process makes the memory and hands it out (listen.c). The receiving process writes into it, with
 * no system call, no lock and no wait. Until the first viewer connects, it updates only the table
 * and the numbers of frames: records would cost a collector without viewers a tenth of its rate.
 */
#ifndef COLLECTOR_LIVE_LIVE_H
#define COLLECTOR_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/files/handout.h"
#include "wire/live.h"

#define LIVE_AWAITED_NS 3000000000ULL

struct sensors;

/* ---- the privileged process ------------------------------------------------------------------ */

struct live_socket {
	struct handout out; /* LIVE_FDS descriptors */
	int end;	    /* writing end of the pipe, for the receiving process */
	uint32_t *wanted;   /* shared by both processes: enum live_wanted; or NULL */
};

#define LIVE_SOCKET_NONE                                                                           \
	{                                                                                          \
		.out = HANDOUT_NONE, .end = -1                                                     \
	}

/* ---- the receiving process ------------------------------------------------------------------- */

/* Whether records are written. They are written at the start, because viewers of an earlier
 * collector connect again, once a second. */
enum live_wanted { LIVE_UNWANTED, LIVE_AWAITED, LIVE_LOOKED_AT };

struct live {
	struct live_ring *ring; /* NULL: no viewers */
	struct live_table *table;
	uint32_t *wanted;
	uint64_t awaited_ns;	   /* LIVE_AWAITED until this time; 0: not begun */
	uint64_t size;		   /* of the ring */
	uint64_t begin;		   /* the current record's place in it */
	uint32_t generation, used; /* the present half of the table; its bytes in use */
	unsigned int section;	   /* the file's section that `blocks` belongs to */
	uint32_t *blocks;     /* by the section's interface: its block in the half, or NO_BLOCK */
	uint32_t count, room; /* of `blocks` */
	uint32_t hidden;      /* interfaces of the section without a block */
};

/* Makes the memories, the pipe and the socket at `path`, for the group LIVE_GROUP if it exists, and
 * maps the memories for `l`. Call it before the fork. Returns 0, or -errno after a line and after
 * undoing everything. */
int live_make(struct live_socket *s, struct live *l, const char *path, uint32_t bytes);
/* Hands the memories to a viewer that waits. */
void live_hand_out(struct live_socket *s, uint64_t now_ns);
/* After the fork: closes the other process's descriptors. */
void live_socket_privileged(struct live_socket *s, struct live *l);
void live_socket_receiving(struct live_socket *s);
void live_socket_free(struct live_socket *s);

/* Shows the names and groups of all sensors. */
void live_sensors(struct live *l, const struct sensors *list);
/* A combo as in the file. */
struct live_combo {
	unsigned int section; /* of the file */
	uint32_t interfaces;  /* in the section, with the combo's new ones */
	uint32_t sensor;      /* its index in the list of sensors */
	uint32_t frames;      /* packet blocks */
	const uint8_t *blocks;
	size_t len;
};

/* Call it before combos. Ends the writing of records if no viewer connects within LIVE_AWAITED_NS.
 */
void live_tick(struct live *l, uint64_t now_ns);
/* Shows a combo. */
void live_combo(struct live *l, const struct live_combo *c);
/* Shows a statistics block about a whole sensor; `sensor` is its index. */
void live_block(struct live *l, uint32_t sensor, const uint8_t *block, size_t len);
void live_free(struct live *l);

#endif
