// SPDX-License-Identifier: GPL-2.0
/*
 * straw_man KEYS...: a receiver of data datagrams with KEYS keys, in two ways: by its table of
 * addresses (Shroud), and by trying every key until one opens the datagram, as a receiver without
 * addresses must. Prints "table_N us" and "every_key_N us", CPU microseconds per datagram, and
 * "every_key_junk_N us" for one that nobody sealed.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/monotonic.h"
#include "wire/bytes.h"
#include "wire/message.h"
#include "wire/shroud.h"

#define LEN 1200
#define WINDOW 1024

struct pair {
	struct shroud_tx tx;
	struct shroud_rx rx;
};

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void make_pairs(struct pair *p, struct table *t, long count)
{
	for (long i = 0; i < count; i++) {
		struct shroud_keys keys;

		randombytes_buf(&keys, sizeof(keys));
		shroud_tx_init(&p[i].tx, &keys);
		if (shroud_rx_init(&p[i].rx, t, &keys, i + 1, WINDOW))
			exit(1);
	}
}

static size_t seal(struct pair *p, uint8_t *out)
{
	static const uint8_t message[LEN] = { MESSAGE_COMBO };

	return shroud_seal(&p->tx, out, message, sizeof(message), 0);
}

static int by_table(struct pair *p, struct table *t, const uint8_t *in, size_t len)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	const struct table_entry *e = table_find(t, load_word(in), NULL);
	uint64_t number;

	return e && shroud_open(&p[e->owner - 1].rx, t, e->low, &number, out, in, len) > 0;
}

/* It knows each sender's next number, which is kinder to it than guessing. */
static int by_every_key(struct pair *p, long count, const uint8_t *in, size_t len)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];

	for (long i = 0; i < count; i++)
		if (derive_open(p[i].tx.keys.seal, p[i].tx.next - 1, out, in + SHROUD_ADDRESS_LEN,
				len - SHROUD_ADDRESS_LEN) == 0)
			return 1;
	return 0;
}

static double measure(struct pair *p, struct table *t, long count, int rounds, int way)
{
	uint8_t datagram[SHROUD_DATAGRAM_MAX];
	uint64_t took = 0;

	for (int i = 0; i < rounds; i++) {
		struct pair *from = &p[randombytes_uniform(count)];
		size_t len = seal(from, datagram);
		uint64_t before = cpu_ns();
		int opened = way ? by_every_key(p, count, datagram, len)
				 : by_table(p, t, datagram, len);

		took += cpu_ns() - before;
		if (!opened)
			exit(1);
		/* Keeps windows up to date: the other way does not update the receiver. */
		if (way && !by_table(p, t, datagram, len))
			exit(1);
	}
	return took / 1e3 / rounds;
}

static double junk(struct pair *p, long count, int rounds)
{
	uint8_t datagram[LEN];
	uint64_t took = 0;

	for (int i = 0; i < rounds; i++) {
		uint64_t before;

		randombytes_buf(datagram, sizeof(datagram));
		before = cpu_ns();
		if (by_every_key(p, count, datagram, sizeof(datagram)))
			exit(1);
		took += cpu_ns() - before;
	}
	return took / 1e3 / rounds;
}

int main(int argc, char **argv)
{
	if (sodium_init() < 0)
		return 1;
	for (int i = 1; i < argc; i++) {
		long count = atol(argv[i]);
		int rounds = 200000 / count + 20;
		struct pair *p = calloc(count, sizeof(*p));
		struct table t;

		if (!p || table_init(&t, count * (SHROUD_WINDOW_MIN + 1)))
			return 1;
		make_pairs(p, &t, count);
		printf("table_%ld %.3f\n", count, measure(p, &t, count, 20000, 0));
		printf("every_key_%ld %.3f\n", count, measure(p, &t, count, rounds, 1));
		printf("every_key_junk_%ld %.3f\n", count, junk(p, count, rounds));
		table_free(&t);
		free(p);
	}
	return 0;
}
