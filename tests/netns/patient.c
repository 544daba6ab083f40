// SPDX-License-Identifier: GPL-2.0
/*
 * patient KEYFILE PORT SECONDS EVERY_MS: an honest sensor. Every EVERY_MS it sends a combo of one
 * frame and waits until the collector has settled it, with a retransmission after each second.
 * Prints the number of combos, and the time until settled in milliseconds: the median, the 99th
 * percentile and the longest.
 */
#include "speak.h"

#define AGAIN_NS 1000000000ULL
#define COMBOS_MAX 100000

static double took_ms[COMBOS_MAX];
static uint64_t next;

static size_t make(uint8_t *out)
{
	struct combo_frame f = { .time_ns = 1000000000 + next,
				 .orig_len = 8,
				 .kept_len = 8,
				 .linktype = 1,
				 .data = (const uint8_t *)"patience" };
	struct combo c;

	if (combo_init(&c, COMBO_SIZE_DEFAULT, 192))
		fail("memory");
	combo_append(&c, &f);
	c.first = next;
	return speak_combo_stored(out, &c, next);
}

/* Sends the next combo and waits until it is settled. */
static uint64_t deliver(void)
{
	uint64_t began = speak_clock_ns(CLOCK_MONOTONIC), sent = began, now = began;
	uint8_t combo[512];
	size_t len = make(combo);

	send_pieces(next, combo, len, UINT32_MAX);
	while (last_ack.settled <= next) {
		speak_receive();
		now = speak_clock_ns(CLOCK_MONOTONIC);
		if (now - sent < AGAIN_NS)
			continue;
		send_pieces(next, combo, len, UINT32_MAX);
		sent = now;
	}
	next++;
	return now - began;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t until, every;
	unsigned int n = 0;

	if (argc != 5)
		return 2;
	every = strtoul(argv[4], NULL, 10) * 1000000;
	speak_connect(argv[1], argv[2]);
	speak_set_up(0x600d, "interface.0=good\nsnaplen.0=192\n");
	until = speak_clock_ns(CLOCK_MONOTONIC) + strtoul(argv[3], NULL, 10) * 1000000000ULL;
	while (n < COMBOS_MAX && speak_clock_ns(CLOCK_MONOTONIC) < until) {
		took_ms[n++] = deliver() / 1e6;
		nanosleep(&(struct timespec){ .tv_sec = every / 1000000000,
					      .tv_nsec = every % 1000000000 },
			  NULL);
	}
	qsort(took_ms, n, sizeof(took_ms[0]), compare);
	printf("%u %.1f %.1f %.1f\n", n, took_ms[n / 2], took_ms[n * 99 / 100], took_ms[n - 1]);
	return 0;
}
