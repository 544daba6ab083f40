/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Index: what an archived capture file holds: times, sensors, combos, and where each address is
 * (saluki-files(5)). The file NAME.idx stands beside NAME.pcapng.zst, so that a search opens only
 * the files that can have something, and a collector that starts need not unpack any.
 *
 * A capture file is divided into chunks: each one is INDEX_CHUNK bytes of pcapng, and goes on to
 * the end of its last block.
 */
#ifndef ARCHIVE_INDEX_H
#define ARCHIVE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_VERSION 2
#define INDEX_CHUNK (1024 * 1024)
#define INDEX_NAME_MAX 64 /* bytes of a sensor's or a group's name, with its end */
#define INDEX_BYTES_MAX (256 * 1024 * 1024)

struct index_head {
	uint64_t pcapng_bytes;
	uint64_t file_bytes;	   /* of the compressed file; 0: it is not compressed */
	uint32_t end;		   /* the compressed file's last four bytes: zstd's checksum */
	bool all_addresses;	   /* else there were too many of them */
	uint64_t tables;	   /* the folder that has its tables, by its number; 0: none */
	bool is_merged;		   /* a unified trace: a frame is a transmission */
	int64_t first_ns, last_ns; /* the lowest and the highest stamp, since 1970; without */
	uint64_t frames;	   /* frames: 0 */
};

struct index_chunk {
	uint64_t at;		   /* of its first block in the pcapng */
	int64_t first_ns, last_ns; /* the lowest and the highest stamp; without frames: 1, 0 */
};

struct index_sensor {
	char name[INDEX_NAME_MAX], group[INDEX_NAME_MAX]; /* group "": none */
	uint16_t id;
	int64_t first_ns, last_ns; /* as in the head */
	uint64_t frames;	   /* in a unified trace: its receptions */
};

/* A run whose combos are in the file: as in collector/output/written.h. */
struct index_run {
	uint16_t sensor;
	uint64_t run, next, accounted;
};

#endif
