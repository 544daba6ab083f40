// SPDX-License-Identifier: GPL-2.0
/*
 * shroud_plain shroud|plain COMBOS FILE: the export's work for COMBOS combos, for callgrind to
 * count: append, close, compress, split, seal. "plain" uses the export's header before Shroud:
 * type[1] session[4] counter[8] in the clear and authenticated, the counter as the nonce.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swarm/swarm.h"
#include "wire/bytes.h"

#define PLAIN_HEADER_LEN 13
#define PLAIN_DATA (SHROUD_DATAGRAM_MAX - PLAIN_HEADER_LEN - DERIVE_TAG_LEN)

static struct shroud_tx tx;
static uint64_t counter = 1;

static void seal_plain(uint8_t *out, const uint8_t *message, size_t len)
{
	uint8_t nonce[12] = { 0 };

	out[0] = 1;
	store_be(out + 1, 7, 4);
	store_be(out + 5, counter, 8);
	store_be(nonce + 4, counter++, 8);
	crypto_aead_chacha20poly1305_ietf_encrypt(out + PLAIN_HEADER_LEN, NULL, message, len, out,
						  PLAIN_HEADER_LEN, NULL, nonce, tx.keys.seal);
}

static void export_combo(const struct swarm_combo *c, uint64_t count, bool plain)
{
	size_t most = plain ? PLAIN_DATA - PIECE_HEADER_LEN : PIECE_DATA_MAX;
	uint8_t message[SHROUD_DATAGRAM_MAX], datagram[SHROUD_DATAGRAM_MAX];

	for (size_t at = 0, len; at < c->len; at += len) {
		len = c->len - at < most ? c->len - at : most;
		piece_header_write(message, count, at, c->len);
		memcpy(message + PIECE_HEADER_LEN, c->wire + at, len);
		if (plain)
			seal_plain(datagram, message, PIECE_HEADER_LEN + len);
		else
			shroud_seal(&tx, datagram, message, PIECE_HEADER_LEN + len, 0);
	}
}

int main(int argc, char **argv)
{
	static struct swarm_combos combos;
	struct shroud_keys keys;
	bool plain = argc == 4 && !strcmp(argv[1], "plain");
	uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc != 4) {
		fprintf(stderr, "Usage: shroud_plain shroud|plain COMBOS FILE\n");
		return 2;
	}
	if (keys_init() || swarm_combos_init(&combos, argv[3]))
		return 1;
	randombytes_buf(&keys, sizeof(keys));
	shroud_tx_init(&tx, &keys);
	for (uint64_t i = 0; i < count; i++) {
		const struct swarm_combo *c = swarm_combos_get(&combos, i);

		if (!c)
			return 1;
		export_combo(c, i, plain);
		swarm_combos_release(&combos, i);
	}
	swarm_combos_free(&combos);
	return 0;
}
