// SPDX-License-Identifier: GPL-2.0
/*
 * The time of a channel switch by the agent's own code, without pauses: between two channels and
 * back; prints the median in microseconds. An emulated machine's extra time after a pause is not
 * included.
 *
 *     switches IF COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/radio/radio.h"
#include "common/monotonic.h"

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static const struct radio_channel channels[] = { { 2412, 20, 2412 }, { 5180, 20, 5180 } };
	int count = argc == 3 ? atoi(argv[2]) : 0;
	struct radio *r = count > 0 ? radio_open(argv[1]) : NULL;
	uint64_t *took = calloc(count > 0 ? count : 1, sizeof(*took));

	if (!r || !took)
		return 2;
	for (int i = 0; i < count; i++) {
		uint64_t begin_ns = monotonic_ns();
		int err = radio_tune(r, &channels[i % 2]);

		took[i] = monotonic_ns() - begin_ns;
		if (err) {
			fprintf(stderr, "%s: %s\n", argv[1], radio_reason(err));
			return 1;
		}
	}
	qsort(took, count, sizeof(*took), by_size);
	printf("median %.1f us\n", took[count / 2] / 1000.0);
	radio_close(r);
	free(took);
	return 0;
}
