// SPDX-License-Identifier: GPL-2.0
/* links: archive/index_read.o archive/index_cursor.o archive/index_hash.o */
/*
 * The index of a capture file. Input: the index's bytes; their hash is made right. Always holds:
 * what cursors give is inside the file's lists, chunks are in order, and each address that is
 * listed is found.
 */
#include "fuzz.h"

#include "archive/index_format.h"
#include "archive/index_read.h"
#include "wire/bytes.h"

static void check_ranges(const struct index *x, struct index_cursor c)
{
	struct index_range r;
	uint32_t before = 0;
	bool first = true;

	for (; index_range_next(&c, &r); first = false) {
		CHECK(r.from < r.to && r.to <= x->chunk_count);
		CHECK(first || r.from > before);
		before = r.to;
	}
}

static void check_chunks(const struct index *x)
{
	for (uint32_t i = 0; i < x->chunk_count; i++) {
		CHECK(x->chunks[i].at <= x->head.pcapng_bytes);
		CHECK(!i || x->chunks[i].at > x->chunks[i - 1].at);
	}
	check_ranges(x, index_describing(x));
}

static void check_lists(const struct index *x)
{
	struct index_cursor c = index_sensors(x), heard;
	struct index_sensor s;
	struct index_run r;
	uint32_t sensors = 0, runs = 0;

	while (index_sensor_next(&c, &s, &heard)) {
		CHECK(strlen(s.name) < INDEX_NAME_MAX && strlen(s.group) < INDEX_NAME_MAX);
		check_ranges(x, heard);
		sensors++;
	}
	c = index_runs(x);
	while (index_run_next(&c, &r))
		runs++;
	CHECK(sensors == x->sensor_count && runs == x->run_count);
}

static void check_addresses(const struct index *x)
{
	static const uint8_t none[INDEX_ADDRESS_LEN] = { 0xde, 0xad, 0xbe, 0xef, 0, 1 };
	struct index_cursor c;

	for (uint32_t i = 0; i < x->address_count; i++) {
		CHECK(index_find(x, x->bytes + x->addresses + i * INDEX_ADDRESS_LEN, &c));
		check_ranges(x, c);
	}
	if (index_find(x, none, &c))
		check_ranges(x, c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ?: 1); /* index_take() frees it */
	struct index x;

	memcpy(bytes, data, size);
	if (size >= INDEX_HEAD_LEN)
		store_le(bytes + INDEX_HASHED_AT - 8,
			 index_hash(bytes + INDEX_HASHED_AT, size - INDEX_HASHED_AT), 8);
	if (index_take(&x, bytes, size))
		return 0;
	check_chunks(&x);
	check_lists(&x);
	check_addresses(&x);
	index_close(&x);
	return 0;
}
