// SPDX-License-Identifier: GPL-2.0
/* links: wire/keys.o */
/*
 * Key files, of a sensor (first byte even: two lines or more) and of a collector (odd: one). Always
 * holds: a refused file has a reason; an accepted one has a key pair that is not its own peer, and
 * reads the same when written again.
 */
#include <errno.h>

#include "fuzz.h"
#include "wire/keys.h"

static int read_text(const void *text, size_t len, struct keypair *own, struct keys_peers *peers)
{
	const char *why = NULL;
	int fd = fuzz_file(text, len), err = keys_read(fd, own, peers, &why);

	CHECK(err == 0 || (err == -EINVAL && why && *why));
	close(fd);
	return err;
}

static void append(char *text, const char *word, const uint8_t key[KEY_LEN])
{
	strcat(text, word);
	key_to_text(text + strlen(text), key);
	strcat(text, "\n");
}

static bool is_zero(const uint8_t key[KEY_LEN])
{
	static const uint8_t zeros[KEY_LEN];

	return !memcmp(key, zeros, KEY_LEN);
}

static void check_pair(const struct keypair *own, const struct keys_peers *peers)
{
	char text[(1 + 3 * KEYS_PEERS_MAX) * (KEY_TEXT_LEN + 10)] = "";
	struct keypair again;
	struct keys_peers again_peers;
	uint8_t public[KEY_LEN];

	CHECK(key_public(public, own->secret) == 0 && !memcmp(public, own->public, KEY_LEN));
	append(text, "", own->secret);
	CHECK(!peers || (peers->count > 0 && peers->count <= KEYS_PEERS_MAX));
	for (unsigned int i = 0; peers && i < peers->count; i++) {
		CHECK(memcmp(peers->peer[i].public, own->public, KEY_LEN));
		append(text, "", peers->peer[i].public);
		append(text, "preshared ", peers->peer[i].preshared);
		if (!is_zero(peers->peer[i].next))
			append(text, "next ", peers->peer[i].next);
	}
	CHECK(read_text(text, strlen(text), &again, peers ? &again_peers : NULL) == 0);
	CHECK(!memcmp(&again, own, sizeof(again)));
	CHECK(!peers || !memcmp(&again_peers, peers, sizeof(*peers)));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(keys_init() == 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	bool collector = fuzz_number(&in, 1) & 1;
	struct keys_peers peers;
	struct keypair own;

	if (read_text(in.p, in.end - in.p, &own, collector ? NULL : &peers) == 0)
		check_pair(&own, collector ? NULL : &peers);
	return 0;
}
