/* SPDX-License-Identifier: GPL-2.0 */
/* What index_build.c gathers, and index_lay.c lays out. A file can name a million sensors and runs:
 * trees find them. */
#ifndef ARCHIVE_INDEX_GATHERED_H
#define ARCHIVE_INDEX_GATHERED_H

#include "index.h"

/* Numbers of chunks, each higher than the one before. */
struct index_chunks {
	uint32_t *list;
	uint32_t count, room;
};

struct index_sensor_built {
	struct index_sensor of;
	uint32_t number;
	struct index_chunks chunks;
};

struct index_address {
	uint64_t address;
	uint32_t chunk;	 /* the last one noted */
	uint32_t places; /* how many were noted */
};

struct index_place {
	uint32_t address; /* number */
	uint32_t chunk;
};

struct index_build {
	uint64_t secret; /* against addresses that are chosen to collide */
	uint64_t frames;
	int64_t first_ns, last_ns;
	bool too_many; /* addresses, or places */
	struct index_chunk *chunks;
	uint32_t chunk_count, chunk_room;
	struct index_chunks describing;
	struct index_sensor_built **sensors; /* by number */
	uint32_t sensor_count, sensor_room;
	void *sensors_by_name;	 /* of tsearch(3), by name and group */
	struct index_run **runs; /* in the order in which they came */
	uint32_t run_count, run_room;
	void *runs_by_name;		 /* of tsearch(3), by sensor and run */
	uint32_t newest[UINT16_MAX + 1]; /* by sensor: the number of its newest run, from 1 */
	struct index_address *addresses; /* in the order in which they came */
	uint32_t address_count, address_room;
	uint32_t *slots; /* hash table of numbers of addresses */
	uint32_t slot_count;
	struct index_place *places; /* by chunk */
	uint32_t place_count, place_room;
};

#endif
