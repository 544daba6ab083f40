/* SPDX-License-Identifier: GPL-2.0 */
/* Index read: reads an index. In: an untrusted file. Always holds: what the functions give is
 * inside the file, and chunks are in order. */
#ifndef ARCHIVE_INDEX_READ_H
#define ARCHIVE_INDEX_READ_H

#include "index.h"

/* Chunks, as ranges: from `from` to before `to`. */
struct index_range {
	uint32_t from, to;
};

struct index {
	uint8_t *bytes; /* malloc */
	size_t len;
	struct index_head head;
	struct index_chunk *chunks; /* malloc */
	uint32_t chunk_count;
	/* Places in `bytes`: */
	size_t describing, sensors, runs, addresses;
	uint32_t sensor_count, run_count, address_count;
};

/* Reads the whole file. Returns 0; -EPROTO for an index of another version; -EBADMSG if it is
 * damaged, or none; -EFBIG; or another -errno. Close it only after 0. */
int index_read(struct index *x, int fd);
/* The same for bytes in memory, which are taken over, also after an error. */
int index_take(struct index *x, uint8_t *bytes, size_t len);
/* Returns what an error means: "is damaged". */
const char *index_error(int err);
void index_close(struct index *x);
/* Reads only the head. Returns as index_read(); the hash is not checked. */
int index_read_head(struct index_head *h, int fd);
/* Whether a file begins as an index, of any version. */
bool index_is_one(int fd);
/* Whether the index was made of this compressed file. */
bool index_is_of(const struct index_head *h, int fd);

/* A place to read on from. */
struct index_cursor {
	const struct index *of;
	const uint8_t *at;
	uint32_t left, chunk;
};

/* The chunks with blocks that describe others. */
struct index_cursor index_describing(const struct index *x);
bool index_range_next(struct index_cursor *c, struct index_range *r);

struct index_cursor index_sensors(const struct index *x);
/* Sets `heard` to the chunks that the sensor has frames in. */
bool index_sensor_next(struct index_cursor *c, struct index_sensor *s, struct index_cursor *heard);

struct index_cursor index_runs(const struct index *x);
bool index_run_next(struct index_cursor *c, struct index_run *r);

/* Sets `in` to the chunks with this address. Returns false if no frame has it. Without
 * head.all_addresses, any chunk may have others. */
bool index_find(const struct index *x, const uint8_t address[6], struct index_cursor *in);

#endif
