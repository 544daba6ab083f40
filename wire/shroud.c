// SPDX-License-Identifier: GPL-2.0
/*
 * Shroud: see shroud.h. Always holds for a receiver: the table has the addresses of the numbers
 * from `highest` + 1 to `ahead`, and of those of the last 256 that are not in `received`. It has no
 * others of this owner.
 */
#include "shroud.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

static const uint8_t zero_nonce[crypto_stream_chacha20_NONCEBYTES];

/* Address of datagram i: bytes 8i to 8i + 7 of the key's stream, made 64 bytes at a time. */
static const uint8_t *address(struct shroud_block *b, const uint8_t key[KEY_LEN], uint64_t i)
{
	static const uint8_t zeros[64];

	if (b->index != i / 8) {
		b->index = i / 8;
		crypto_stream_chacha20_xor_ic(b->bytes, zeros, sizeof(zeros), zero_nonce, b->index,
					      key);
	}
	return b->bytes + i % 8 * SHROUD_ADDRESS_LEN;
}

/* ---- sending --------------------------------------------------------------------------------- */

void shroud_tx_init(struct shroud_tx *tx, const struct shroud_keys *keys)
{
	memset(tx, 0, sizeof(*tx));
	tx->keys = *keys;
	tx->next = 1;
	tx->block.index = ~0ULL;
}

/* Copies a message and pads it to `full` bytes. */
static void pad(uint8_t *out, const uint8_t *message, size_t len, size_t full)
{
	memcpy(out, message, len);
	memset(out + len, 0, full - len);
	out[0] |= SHROUD_PADDED;
	store_be(out + full - 2, full - len, 2);
}

size_t shroud_seal(struct shroud_tx *tx, uint8_t *out, const uint8_t *message, size_t len,
		   size_t padded_len)
{
	uint8_t padded[SHROUD_DATAGRAM_MAX];

	if (padded_len >= len + SHROUD_OVERHEAD + 2 && padded_len <= sizeof(padded)) {
		pad(padded, message, len, padded_len - SHROUD_OVERHEAD);
		message = padded;
		len = padded_len - SHROUD_OVERHEAD;
	}
	memcpy(out, address(&tx->block, tx->keys.address, tx->next), SHROUD_ADDRESS_LEN);
	derive_seal(tx->keys.seal, tx->next++, out + SHROUD_ADDRESS_LEN, message, len);
	return len + SHROUD_OVERHEAD;
}

/* How many addresses above `highest` a receiver knows: few at the start of a session. */
static uint64_t known_ahead(uint64_t highest, uint32_t window)
{
	return highest < window && SHROUD_WINDOW_MIN + highest < window
		       ? SHROUD_WINDOW_MIN + highest
		       : window;
}

uint64_t shroud_room(uint64_t acknowledged, uint32_t window)
{
	return known_ahead(acknowledged, window) / 2;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static int has(const uint64_t bits[SHROUD_BEHIND / 64], uint64_t number)
{
	return bits[number % SHROUD_BEHIND / 64] >> number % 64 & 1;
}

static void set(uint64_t bits[SHROUD_BEHIND / 64], uint64_t number)
{
	bits[number % SHROUD_BEHIND / 64] |= 1ULL << number % 64;
}

static void clear(uint64_t bits[SHROUD_BEHIND / 64], uint64_t number)
{
	bits[number % SHROUD_BEHIND / 64] &= ~(1ULL << number % 64);
}

static void forget(struct shroud_rx *rx, struct table *t, struct shroud_block *b, uint64_t number)
{
	table_remove(t, load_word(address(b, rx->keys.address, number)), rx->owner,
		     (uint32_t)number);
}

/* Adds addresses up to the window's end. Returns 0 or -ENOMEM. */
static int look_ahead(struct shroud_rx *rx, struct table *t)
{
	uint64_t until =
		rx->highest + (rx->whole ? rx->window : known_ahead(rx->highest, rx->window));

	while (rx->ahead < until) {
		uint64_t i = rx->ahead + 1;
		const uint8_t *a = address(&rx->block, rx->keys.address, i);

		/* The table is larger than the caches, so the next entries are prefetched. */
		for (int k = 0; i % 8 == 0 && k < 8; k++)
			table_prefetch(t, load_word(a + k * SHROUD_ADDRESS_LEN));
		if (table_add(t, load_word(a), rx->owner, (uint32_t)i))
			return -ENOMEM;
		rx->ahead++;
	}
	return 0;
}

int shroud_rx_init(struct shroud_rx *rx, struct table *t, const struct shroud_keys *keys,
		   uint32_t owner, uint32_t window)
{
	memset(rx, 0, sizeof(*rx));
	rx->keys = *keys;
	rx->owner = owner;
	rx->window = window;
	rx->block.index = rx->behind.index = ~0ULL;
	if (look_ahead(rx, t)) {
		shroud_rx_free(rx, t);
		return -ENOMEM;
	}
	return 0;
}

void shroud_rx_free(struct shroud_rx *rx, struct table *t)
{
	uint64_t first = rx->highest < SHROUD_BEHIND ? 1 : rx->highest - SHROUD_BEHIND + 1;

	rx->behind.index = ~0ULL;
	for (uint64_t n = first; rx->owner && n <= rx->ahead; n++)
		if (n > rx->highest || !has(rx->received, n))
			forget(rx, t, &rx->behind, n);
	sodium_memzero(rx, sizeof(*rx));
}

/* `number` becomes the highest. Numbers that leave the last 256 are no longer expected. */
static void advance(struct shroud_rx *rx, struct table *t, uint64_t number)
{
	for (uint64_t n = rx->highest + 1; n <= number; n++) {
		if (n > SHROUD_BEHIND && !has(rx->received, n - SHROUD_BEHIND))
			forget(rx, t, &rx->behind, n - SHROUD_BEHIND);
		clear(rx->received, n);
		clear(rx->kept, n);
	}
	rx->highest = number;
}

/* `number` is beyond the window. Numbers up to it count as received, so the work is bounded by the
 * window's width. */
static void jump(struct shroud_rx *rx, struct table *t, uint64_t number)
{
	struct shroud_rx fresh = { .keys = rx->keys, .owner = rx->owner, .window = rx->window };

	shroud_rx_free(rx, t);
	*rx = fresh;
	sodium_memzero(&fresh, sizeof(fresh));
	rx->block.index = rx->behind.index = ~0ULL;
	rx->highest = rx->ahead = number;
	memset(rx->received, 0xff, sizeof(rx->received));
}

void shroud_rx_move(struct shroud_rx *rx, struct table *t, uint64_t next)
{
	if (next > INT64_MAX)
		return;
	/* Datagrams that an earlier receiver of this session may have taken are not taken again. */
	if (next > rx->ahead + 1 || (!rx->whole && next > 1))
		jump(rx, t, next - 1);
	else if (next > rx->highest + 1)
		advance(rx, t, next - 1);
	rx->whole = true;
	look_ahead(rx, t);
}

void shroud_prefetch(const struct shroud_rx *rx, const struct table *t)
{
	for (uint64_t i = rx->ahead + 1; i / 8 == rx->block.index; i++)
		table_prefetch(t, load_word(rx->block.bytes + i % 8 * SHROUD_ADDRESS_LEN));
}

/* Returns the number with these low bits that is inside the window. */
static uint64_t full_number(const struct shroud_rx *rx, uint32_t low)
{
	return rx->highest + (int64_t)(int32_t)(low - (uint32_t)rx->highest);
}

/* Returns the message's bytes without padding, 0 if the padding is malformed. */
static long unpad(uint8_t *message, size_t len)
{
	size_t n;

	if (!(message[0] & SHROUD_PADDED))
		return len;
	message[0] &= ~SHROUD_PADDED;
	n = len < 3 ? 0 : load_be(message + len - 2, 2);
	return n < 2 || n >= len ? 0 : (long)(len - n);
}

long shroud_open(struct shroud_rx *rx, struct table *t, uint32_t low, uint64_t *number,
		 uint8_t *out, const uint8_t *in, size_t len)
{
	uint64_t n = full_number(rx, low);

	if (len <= SHROUD_OVERHEAD ||
	    derive_open(rx->keys.seal, n, out, in + SHROUD_ADDRESS_LEN, len - SHROUD_ADDRESS_LEN))
		return -EBADMSG;
	*number = n;
	table_remove(t, load_word(in), rx->owner, low);
	if (n > rx->highest)
		advance(rx, t, n);
	set(rx->received, n);
	look_ahead(rx, t); /* without memory the next call makes up for it */
	return unpad(out, len - SHROUD_OVERHEAD);
}

void shroud_keep(struct shroud_rx *rx, uint64_t number)
{
	if (number <= rx->highest && rx->highest - number < SHROUD_BEHIND)
		set(rx->kept, number);
}

/* Returns the bits of the 64 numbers up to `last`, whose bit is the highest one. */
static uint64_t bits_until(const uint64_t bits[SHROUD_BEHIND / 64], uint64_t last)
{
	uint64_t word = bits[last % SHROUD_BEHIND / 64];
	uint64_t below = bits[(last - 64) % SHROUD_BEHIND / 64];

	return last % 64 == 63 ? word : word << (63 - last % 64) | below >> (last % 64 + 1);
}

/* Reverses the bits of each byte. */
static uint64_t reverse(uint64_t v)
{
	v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
	v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
	return (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
}

/* Numbers that are not above 0 have no bits. */
void shroud_received(const struct shroud_rx *rx, uint8_t out[SHROUD_BEHIND / 8])
{
	for (uint64_t n = 0; n < SHROUD_BEHIND; n += 64)
		store_be(out + n / 8, reverse(bits_until(rx->kept, rx->highest - n)), 8);
}
