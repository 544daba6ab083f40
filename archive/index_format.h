/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Index format, shared by build and read (saluki-files(5)). Numbers of the head are little-endian,
 * all others are varints (wire/bytes.h):
 *
 *     magic 8, version 4, XXH64 of all that follows 8; flags 4, tables 8, pcapng_bytes 8,
 *     file_bytes 8, end 4, first_ns 8, last_ns 8, frames 8
 *     chunks: number; each: bytes since the one before, frames' span + 1 or 0, and then the first
 *         stamp minus the file's
 *     describing chunks: ranges
 *     sensors: number; each: id, name and group with their lengths, frames, first stamp minus the
 *         file's, span, ranges
 *     runs: number; each: sensor, run, next, accounted
 *     addresses: number; the addresses in order, 6 each; for each INDEX_STEP of them where their
 *         ranges begin, 4, counted from the first; their ranges
 *     ranges: bytes of what follows; each: gap to the range before, length
 */
#ifndef ARCHIVE_INDEX_FORMAT_H
#define ARCHIVE_INDEX_FORMAT_H

#include <stdint.h>

#define INDEX_MAGIC "salukidx"
#define INDEX_MAGIC_LEN 8
#define INDEX_HASHED_AT 20
#define INDEX_HEAD_LEN 76
#define INDEX_STEP 64
#define INDEX_ADDRESS_LEN 6

enum { INDEX_FLAG_ALL_ADDRESSES = 1, INDEX_FLAG_IS_MERGED = 2 };

uint64_t index_hash(const uint8_t *bytes, uint64_t len);

/* Places of ranges that so many addresses have. */
static inline uint32_t index_steps(uint32_t addresses)
{
	return (addresses + INDEX_STEP - 1) / INDEX_STEP;
}

#endif
