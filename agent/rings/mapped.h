/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reader of the mapped ring (saluki/record.h, bpf/mapped.h): a lane for each CPU, merged by time
 * stamp. As with the BPF ring buffer, records are taken first and their space is given back
 * later, when the combo made of them is on its way. Needs no privilege, just the map's
 * descriptor.
 */
#ifndef AGENT_RINGS_MAPPED_H
#define AGENT_RINGS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

/* States of all lanes that are remembered; a power of two, and more than there are combos between
 * the capture thread and the end of export (queue.h). */
#define MAPPED_MARKS 16

struct mapped_lane {
	struct saluki_mapped *ring;
	uint64_t next;	   /* position of the next record to take */
	uint64_t produced; /* `head` as last read, or `limit` */
	uint64_t limit;	   /* not read beyond; UINT64_MAX: no bound */
};

struct mapped {
	uint8_t *memory;
	size_t memory_len;
	uint64_t size; /* bytes of a lane's ring, a power of two */
	uint32_t lanes_len;
	struct mapped_lane *lanes;
	struct mapped_lane *lane; /* of the record given last; NULL: it is taken, or none was */
	uint64_t until_ns;	  /* this lane is the oldest up to here */
	uint64_t taken;		  /* bytes of rings taken so far */
	uint64_t mark;		  /* number of the next mark */
	uint64_t *marks;	  /* MAPPED_MARKS times lanes_len positions */
};

/* Bytes of a map's value that holds a ring of `size` bytes. */
size_t mapped_value_size(uint64_t size);

/* Maps the rings of `lanes` CPUs behind `map_fd`. Returns 0 or -errno. */
int mapped_map(struct mapped *m, int map_fd, uint64_t size, uint32_t lanes);
/* The same on memory that is there, for tests; mapped_unmap leaves it alone. */
int mapped_init(struct mapped *m, uint8_t *memory, uint64_t size, uint32_t lanes);
void mapped_unmap(struct mapped *m);

/* Takes the record given last, and returns the next, or NULL where no CPU has got further. Order is
 * that of the time stamps among what has come so far. */
const struct saluki_record *mapped_next(struct mapped *m);
/* Remembers everything in front of the record given last, or with it, and returns the mark's
 * number. */
uint64_t mapped_mark(struct mapped *m, bool with_last);
/* Gives everything in front of a mark back. Another thread may call it, as long as the mark came
 * to it with release and acquire. */
void mapped_release(struct mapped *m, uint64_t mark);

/* The positions of all lanes that stand for a mark. The same thread as mapped_release. */
void mapped_positions(const struct mapped *m, uint64_t mark, uint64_t *out);
/* Not to read beyond these positions, one a lane; NULL: no bound any more. */
void mapped_limit(struct mapped *m, const __u64 *positions);

/* Whether one of them is more than half full of what is not given back. */
bool mapped_half_full(const struct mapped *m);

/* Asks to be woken when a lane has `bytes` to take. Returns false where one has them already. */
bool mapped_sleep(struct mapped *m, uint64_t bytes);
void mapped_awake(struct mapped *m);

#endif
