/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys as WireGuard has them: X25519 pairs, 32 bytes, written as 44 characters of base64.
 *
 * A sensor's key file has its private key on line 1 (`saluki genkey`), and its collector's public
 * key on line 2. With a preshared key (`saluki genpsk`), the next line is "preshared" and this key.
 * A line "next" and a public key names the key that the collector will have. Public keys of more
 * collectors may follow, each with such lines. The collector's key file has one line.
 */
#ifndef WIRE_KEYS_H
#define WIRE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_LEN 32
#define KEY_TEXT_LEN 45 /* base64 with its terminating 0 */
#define KEY_SHORT_LEN 9 /* the first 8 characters, enough to tell a key from another, and a 0 */

struct keypair {
	uint8_t secret[KEY_LEN];
	uint8_t public[KEY_LEN];
};

#define KEYS_PEERS_MAX 4

/* The collectors in a sensor's key file. */
struct keys_peer {
	uint8_t public[KEY_LEN];
	uint8_t next[KEY_LEN];	    /* its next public key; zeros: none */
	uint8_t preshared[KEY_LEN]; /* zeros: none */
};
struct keys_peers {
	unsigned int count;
	struct keys_peer peer[KEYS_PEERS_MAX];
};

/* Must be called once before anything else here and in derive.h. Waits, after a line, until the
 * kernel has random numbers. Returns 0 or -ENOSYS. */
int keys_init(void);

void key_generate(uint8_t secret[KEY_LEN]);
/* Returns 0, or -EINVAL if the secret has no public key (it is all zero). */
int key_public(uint8_t public[KEY_LEN], const uint8_t secret[KEY_LEN]);

void key_to_text(char text[KEY_TEXT_LEN], const uint8_t key[KEY_LEN]);
void key_to_short(char text[KEY_SHORT_LEN], const uint8_t key[KEY_LEN]);
/* Whether the name of a key file is a key itself, which must not be printed. */
bool key_is_text(const char *path);
#define KEY_IS_TEXT                                                                                \
	"--key: is a key itself, not a file's name; a config file can have it: key-text = KEY"
/* Reads exactly one key from `text`; blanks around it are allowed. Returns 0 or -EINVAL. */
int key_from_text(uint8_t key[KEY_LEN], const char *text);

/* Reads the private key and, unless `peers` is NULL, at least one collector's key from an open key
 * file. On failure sets `why` to a static text. Returns 0 or -EINVAL. */
int keys_read(int fd, struct keypair *own, struct keys_peers *peers, const char **why);

/* Keeps memory with keys from being swapped out. Logs once if the memory cannot be locked, and goes
 * on. */
void keys_lock(const void *p, size_t len);

/* Whether only its owner may read the open key file. True for a pipe. */
bool keys_private(int fd);

#endif
