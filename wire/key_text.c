// SPDX-License-Identifier: GPL-2.0
/* Keys in a config file: see key_text.h. */
#include "key_text.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

/* Writes the key of `value` as text. Returns whether it is one. */
static bool key_take(char text[KEY_TEXT_LEN], const char *value)
{
	uint8_t key[KEY_LEN];
	bool taken = key_from_text(key, value) == 0 && !sodium_is_zero(key, sizeof(key));

	if (taken)
		key_to_text(text, key);
	sodium_memzero(key, sizeof(key));
	return taken;
}

int key_text_secret(struct key_text *k, char *value)
{
	bool taken = !k->given && key_take(k->secret, value);

	sodium_memzero(value, strlen(value));
	if (k->given)
		log_line("key-text: is given twice");
	else if (!taken)
		log_line("key-text: is not a private key; 'saluki genkey' makes one");
	k->given = true;
	return taken ? 0 : -EINVAL;
}

/* Adds a line to the collectors' keys, which have room for it. */
static bool key_add(struct key_text *k, const char *before, const char *value)
{
	char text[KEY_TEXT_LEN];
	size_t len = strlen(k->peers);
	bool taken = key_take(text, value);

	if (taken)
		snprintf(k->peers + len, sizeof(k->peers) - len, "%s%s\n", before, text);
	sodium_memzero(text, sizeof(text));
	return taken;
}

int key_text_collector(struct key_text *k, const char *value)
{
	if (k->collectors == KEYS_PEERS_MAX)
		log_line("collector: there are more than %d", KEYS_PEERS_MAX);
	else if (!key_add(k, "", value))
		log_line("collector: is not a public key; 'saluki pubkey' prints the collector's");
	else {
		k->collectors++;
		k->preshared = k->next = false;
		return 0;
	}
	return -EINVAL;
}

int key_text_preshared(struct key_text *k, char *value)
{
	bool misplaced = !k->collectors || k->preshared;
	bool taken = !misplaced && key_add(k, "preshared ", value);

	sodium_memzero(value, strlen(value));
	k->preshared = true;
	if (misplaced)
		log_line("preshared: goes after the collector's key, once for each");
	else if (!taken)
		log_line("preshared: is not a preshared key; 'saluki genpsk' makes one");
	return taken ? 0 : -EINVAL;
}

int key_text_next(struct key_text *k, const char *value)
{
	bool misplaced = !k->collectors || k->next;

	k->next = true;
	if (misplaced)
		log_line("next: goes after the collector's present key, once for each");
	else if (!key_add(k, "next ", value))
		log_line("next: is not a public key; 'saluki pubkey' prints the collector's next "
			 "one");
	else
		return 0;
	return -EINVAL;
}

/* Not dprintf(), whose buffer would keep a copy. A pipe has room for all. */
static bool key_put(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

int key_text_open(struct key_text *k)
{
	int ends[2] = { -1, -1 };
	bool failed = pipe2(ends, O_CLOEXEC) || !key_put(ends[1], k->secret) ||
		      !key_put(ends[1], "\n") || !key_put(ends[1], k->peers);
	int err = failed ? -errno : 0;

	sodium_memzero(k, sizeof(*k));
	if (ends[1] >= 0)
		close(ends[1]);
	if (err && ends[0] >= 0)
		close(ends[0]);
	return err ?: ends[0];
}
