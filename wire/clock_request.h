/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clock request: a sensor that does not know the time asks for it (docs/wire.md). Who does not know
 * the collector's public key costs it a hash of 16 bytes.
 */
#ifndef WIRE_CLOCK_REQUEST_H
#define WIRE_CLOCK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive.h"
#include "keys.h"

#define CLOCK_REQUEST_MIN (16 + 8 + 32 + DERIVE_TAG_LEN)
#define CLOCK_ANSWER_MIN (8 + 8 + DERIVE_TAG_LEN)

/* Of the collector's public key, made once. */
struct clock_keys {
	uint8_t mac[16];
};
void clock_keys_init(struct clock_keys *k, const uint8_t collector[KEY_LEN]);

/* The sensor: writes a question of `len` bytes (CLOCK_REQUEST_MIN at least) to `out`, and keeps in
 * `key` what opens the answer. Returns 0 or -EINVAL where the collector's key is none. */
int clock_ask(uint8_t key[KEY_LEN], uint8_t *out, size_t len, const struct keypair *own,
	      const uint8_t collector[KEY_LEN], uint64_t time_ns);
/* Takes an answer. Returns 0 with the collector's time, and `key` wiped, or -EBADMSG. */
int clock_answered(uint8_t key[KEY_LEN], uint64_t *time_ns, const uint8_t *in, size_t len);

/* The collector: whether the short mac is right, which costs a SipHash. */
bool clock_plausible(const struct clock_keys *k, const uint8_t *in, size_t len);
/* Answers a plausible question with `time_ns` in at most `len` bytes. Returns the answer's bytes or
 * -EBADMSG. */
long clock_answer(uint8_t *out, const struct keypair *own, uint64_t time_ns, const uint8_t *in,
		  size_t len);

#endif
