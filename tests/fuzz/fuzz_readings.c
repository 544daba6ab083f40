// SPDX-License-Identifier: GPL-2.0
/* links: wire/clock_readings.o wire/progress.o agent/capture/readings.o */
/*
 * Clock readings, and a sensor's progress. In: an event's or message's bytes. Always holds: both
 * read the same when written again; the sensor computes with any readings.
 */
#include <errno.h>

#include "agent/capture/readings.h"
#include "fuzz.h"
#include "wire/progress.h"

static int read_event(struct clock_readings *r, const uint8_t *event, size_t len)
{
	uint8_t *copy = fuzz_copy(event, len), again[CLOCK_READINGS_MAX * CLOCK_READING_WIRE_MAX];
	int err = clock_readings_read(r, copy, len);
	struct clock_readings back;
	size_t n;

	CHECK(err == 0 || err == -EBADMSG);
	fuzz_free(copy);
	if (err)
		return err;
	CHECK(r->count > 0 && r->count <= CLOCK_READINGS_MAX);
	n = clock_readings_write(again, r);
	CHECK(n <= r->count * CLOCK_READING_WIRE_MAX && n <= len);
	CHECK(clock_readings_read(&back, again, n) == 0 && back.count == r->count);
	CHECK(!memcmp(back.list, r->list, r->count * sizeof(r->list[0])));
	return 0;
}

static void choose(const struct clock_readings *from, uint32_t took_ns)
{
	struct readings r = { 0 };
	struct clock_readings chosen;

	for (unsigned int i = 0; i < from->count; i++) {
		const struct clock_offset c = { .reading = from->list[i],
						.measured_ns = from->list[i].monotonic_ns,
						.took_ns = took_ns };

		if (from->list[i].raw_minus_monotonic_ns & 1)
			readings_look(&r, &c);
		readings_choose(&r, &c, &chosen);
		CHECK(chosen.count <= READINGS_AT_ONCE);
	}
}

static void read_progress(const uint8_t *message, size_t len)
{
	uint8_t *copy = fuzz_copy(message, len), again[PROGRESS_WIRE_MAX];
	int err;
	struct progress p, back;
	size_t n;

	err = progress_read(&p, copy, len);
	CHECK(err == 0 || err == -EBADMSG);
	fuzz_free(copy);
	if (err)
		return;
	n = progress_write(again, &p);
	CHECK(n <= len && progress_read(&back, again, n) == 0 && !memcmp(&back, &p, sizeof(p)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct clock_readings r;

	read_progress(data, len);
	if (read_event(&r, data, len) == 0)
		choose(&r, data[0]);
	return 0;
}
