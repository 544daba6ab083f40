// SPDX-License-Identifier: GPL-2.0
/* links: wire/shroud.o wire/derive.o wire/table.o wire/keys.o */
/*
 * Two sessions' receivers with one table, and a network that delivers any number again, early,
 * late, altered, or under another's address, and messages with any padding. Always holds: a number
 * opens once at most, and only while its address is known; the table has exactly the addresses that
 * shroud.c defines; no datagram changes another session; acknowledged messages were kept.
 */
#include <errno.h>

#include "fuzz_random.h"
#include "wire/bytes.h"
#include "wire/message.h"
#include "wire/shroud.h"

#define NUMBERS 4096

struct side {
	struct shroud_keys keys;
	struct shroud_rx rx;
	bool came[NUMBERS], kept[NUMBERS];
};

struct state {
	struct table t;
	struct side sides[2];
};

static struct state st;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_random_init();
	return 0;
}

static uint64_t known(const struct side *s)
{
	uint64_t h = s->rx.highest, n = h + SHROUD_WINDOW_MIN;

	n = n < s->rx.window ? n : s->rx.window;
	for (uint64_t i = h < SHROUD_BEHIND ? 1 : h - SHROUD_BEHIND + 1; i <= h; i++)
		n += !s->came[i];
	return n;
}

static void check(void)
{
	uint8_t bits[SHROUD_BEHIND / 8];

	CHECK(st.t.used == known(&st.sides[0]) + known(&st.sides[1]));
	for (int k = 0; k < 2; k++) {
		const struct side *s = &st.sides[k];

		shroud_received(&s->rx, bits);
		for (uint64_t i = 0; i < SHROUD_BEHIND && i < s->rx.highest; i++)
			CHECK((bits[i / 8] >> i % 8 & 1) == s->kept[s->rx.highest - i]);
	}
}

/* Other messages have their own harnesses. */
static void read_message(const uint8_t *message, size_t len)
{
	uint8_t *copy = fuzz_copy(message, len);
	struct piece p;
	struct ack a;

	if (piece_read(&p, copy, len) == 0) {
		CHECK(p.offset % PIECE_UNIT == 0 && p.offset + p.len <= p.total && p.len);
		fuzz_touch(p.data, p.len);
	}
	if (ack_read(&a, copy, len) == 0)
		CHECK(!ack_has(&a, a.highest + 1));
	fuzz_free(copy);
}

/* As a receiver. Returns whether it opened for `expected`, and for no other. */
static bool deliver(const uint8_t *datagram, size_t len, struct side *expected, uint64_t number,
		    long message_len)
{
	const struct table_entry *e = NULL;
	uint8_t *copy = fuzz_copy(datagram, len), out[SHROUD_DATAGRAM_MAX];

	while (len >= 8 && (e = table_find(&st.t, load_word(copy), e))) {
		struct side *s = &st.sides[e->owner - 1];
		uint64_t got, highest = s->rx.highest;
		long n = shroud_open(&s->rx, &st.t, e->low, &got, out, copy, len);

		if (n < 0) { /* and then nothing has changed */
			CHECK(n == -EBADMSG && s->rx.highest == highest);
			continue;
		}
		CHECK(s == expected && n == message_len);
		CHECK(got == number);
		s->came[number] = true;
		read_message(out, n);
		CHECK(s->rx.highest == (number > highest ? number : highest));
		fuzz_free(copy);
		return true;
	}
	fuzz_free(copy);
	return false;
}

static bool may_come(const struct side *s, uint64_t number)
{
	uint64_t h = s->rx.highest, ahead = h + SHROUD_WINDOW_MIN;

	if (number > h)
		return number - h <= (ahead < s->rx.window ? ahead : s->rx.window);
	return h - number < SHROUD_BEHIND && !s->came[number];
}

static size_t make(struct side *s, uint64_t number, uint8_t *out, const uint8_t *message,
		   size_t len, size_t padded)
{
	struct shroud_tx tx;

	shroud_tx_init(&tx, &s->keys);
	tx.next = number;
	return shroud_seal(&tx, out, message, len, padded);
}

/* The padding rule of docs/wire.md. Returns the message's length without padding; 0: it contradicts
 * itself. */
static long unpadded(const uint8_t *message, size_t len)
{
	size_t n;

	if (!(message[0] & 0x80))
		return len;
	n = len < 3 ? 0 : message[len - 2] << 8 | message[len - 1];
	return n < 2 || n >= len ? 0 : (long)(len - n);
}

static void step(struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1), datagram[SHROUD_DATAGRAM_MAX];
	struct side *s = &st.sides[what & 1];
	uint64_t number = s->rx.highest + (int8_t)fuzz_number(in, 1) * (what & 2 ? 9 : 1);
	const uint8_t *message;
	size_t len, n;
	bool could;

	message = fuzz_bytes(in, 1 + (what >> 4) * (what >> 4), &len);
	if (number - 1 >= NUMBERS - 1 || !len)
		return;
	could = may_come(s, number);
	n = make(s, number, datagram, message, len, what & 4 && !(message[0] & 0x80) ? 1232 : 0);
	if (what & 8) { /* altered, or under the other's address */
		if (what & 16)
			make(&st.sides[!(what & 1)], 1 + s->rx.highest, datagram, message, 0, 0);
		else
			datagram[(size_t)what * 7 % n] ^= what;
		if (deliver(datagram, n - (what & 32 ? 1 : 0), NULL, 0, 0))
			CHECK(false);
		n = make(s, number, datagram, message, len, 0);
		CHECK(deliver(datagram, n, s, number, unpadded(message, len)) == could);
	} else {
		CHECK(deliver(datagram, n, s, number, unpadded(message, len)) == could);
		CHECK(!deliver(datagram, n, NULL, number, 0));
	}
	if (s->came[number] && what & 64) {
		shroud_keep(&s->rx, number);
		if (number <= s->rx.highest && s->rx.highest - number < SHROUD_BEHIND)
			s->kept[number] = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };

	memset(&st, 0, sizeof(st));
	CHECK(table_init(&st.t, 0) == 0);
	for (int k = 0; k < 2; k++) {
		struct side *s = &st.sides[k];

		memset(&s->keys, 1 + k, sizeof(s->keys));
		CHECK(shroud_rx_init(&s->rx, &st.t, &s->keys, 1 + k, k ? 1024 : 256) == 0);
	}
	while (in.p < in.end) {
		step(&in);
		check();
	}
	for (int k = 0; k < 2; k++)
		shroud_rx_free(&st.sides[k].rx, &st.t);
	CHECK(st.t.used == 0);
	table_free(&st.t);
	return 0;
}
