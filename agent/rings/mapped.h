/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mapped ring reader (saluki/record.h, bpf/mapped.h): a lane per CPU, merged by time stamp. As with
 * the BPF ring buffer, records are taken first, and their space is released later, when their combo
 * is on its way. Needs no privilege, only the map's descriptor.
 */
#ifndef AGENT_RINGS_MAPPED_H
#define AGENT_RINGS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

struct mapped_lane {
	struct saluki_mapped *ring;
	uint64_t next;	   /* position of the next record */
	uint64_t produced; /* `head` as last read, or `limit` */
	uint64_t limit;	   /* reading stops here; UINT64_MAX: no limit */
};

struct mapped {
	uint8_t *memory;
	size_t memory_len;
	uint64_t size; /* bytes of a lane's ring, a power of two */
	uint32_t lanes_len;
	struct mapped_lane *lanes;
	struct mapped_lane **ready; /* the lanes with records that are not taken */
	uint32_t ready_len;	    /* 0: all lanes must be looked at */
	struct mapped_lane *lane;   /* of the last returned record; NULL: taken, or none */
	uint64_t until_ns;	    /* until here this lane has the oldest record */
	uint64_t taken;		    /* bytes taken from the rings so far */
};

/* Returns the bytes of a map's value with a ring of `size` bytes. */
size_t mapped_value_size(uint64_t size);

/* Whether rings of `size` bytes for `lanes` CPUs are a small enough share of `memory` bytes, the
 * machine's, to be the default. */
bool mapped_affordable(uint64_t size, uint32_t lanes, uint64_t memory);

/* Maps the rings of `lanes` CPUs of the map `map_fd`. Returns 0 or -errno. */
int mapped_map(struct mapped *m, int map_fd, uint64_t size, uint32_t lanes);
/* The same with existing memory, for tests. mapped_unmap does not free it. */
int mapped_init(struct mapped *m, uint8_t *memory, uint64_t size, uint32_t lanes);
void mapped_unmap(struct mapped *m);

/* Takes the last returned record, and returns the next, or NULL if there is none. Records come in
 * the order of time stamps, among those available. */
const struct saluki_record *mapped_next(struct mapped *m);
/* Writes a mark: a position for each lane, before or after the last returned record. */
void mapped_mark(struct mapped *m, bool with_last, __u64 *mark);
/* Moves a mark past a record, in the order of mapped_next. Any thread. */
void mapped_pass(const struct mapped *m, __u64 *mark, const struct saluki_record *r,
		 uint32_t kept_len);
/* Releases all space before a mark. Another thread may call it. */
void mapped_release(struct mapped *m, const __u64 *mark);
/* Limits reading to a mark; NULL: no limit. */
void mapped_limit(struct mapped *m, const __u64 *mark);

/* Returns the bytes of unreleased records in the fullest of them. */
uint64_t mapped_used(const struct mapped *m);

/* Requests a wake-up when a lane has `bytes` to read. Returns false if one has them already. */
bool mapped_sleep(struct mapped *m, uint64_t bytes);
void mapped_awake(struct mapped *m);

#endif
