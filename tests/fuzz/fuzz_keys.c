// SPDX-License-Identifier: GPL-2.0
/* links: wire/keys.o */
/*
 * Key files, of a sensor (first byte even: two lines) and of a collector (odd: one). Always holds:
 * what is refused says why; what is taken is a pair, is not its own peer, and written as text
 * again reads the same.
 */
#include <errno.h>

#include "fuzz.h"
#include "wire/keys.h"

static int read_text(const void *text, size_t len, struct keypair *own, uint8_t *peer)
{
	const char *why = NULL;
	int fd = fuzz_file(text, len), err = keys_read(fd, own, peer, &why);

	CHECK(err == 0 || (err == -EINVAL && why && *why));
	close(fd);
	return err;
}

static void check_pair(const struct keypair *own, const uint8_t *peer)
{
	char text[2 * KEY_TEXT_LEN];
	struct keypair again;
	uint8_t again_peer[KEY_LEN], public[KEY_LEN];

	CHECK(key_public(public, own->secret) == 0 && !memcmp(public, own->public, KEY_LEN));
	key_to_text(text, own->secret);
	text[KEY_TEXT_LEN - 1] = '\n';
	if (peer) {
		CHECK(memcmp(peer, own->public, KEY_LEN));
		key_to_text(text + KEY_TEXT_LEN, peer);
	} else {
		text[KEY_TEXT_LEN] = 0;
	}
	CHECK(read_text(text, strlen(text), &again, peer ? again_peer : NULL) == 0);
	CHECK(!memcmp(&again, own, sizeof(again)));
	CHECK(!peer || !memcmp(again_peer, peer, KEY_LEN));
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
	uint8_t peer[KEY_LEN];
	struct keypair own;

	if (read_text(in.p, in.end - in.p, &own, collector ? NULL : peer) == 0)
		check_pair(&own, collector ? NULL : peer);
	return 0;
}
