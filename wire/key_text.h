/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys in a config file (common/config.h): key-text, collector, preshared and next. In: their
 * values. Out: a pipe with a key file's text (keys.h). Secrets are wiped, also in the values.
 */
#ifndef WIRE_KEY_TEXT_H
#define WIRE_KEY_TEXT_H

#include <stdbool.h>

#include "keys.h"

struct key_text {
	bool given;
	unsigned int collectors;
	bool preshared, next; /* the last collector has one */
	char secret[KEY_TEXT_LEN];
	char peers[KEYS_PEERS_MAX * (3 * KEY_TEXT_LEN + 15) + 1]; /* lines */
};

/* Return 0, or -EINVAL after a line that names the option. */
int key_text_secret(struct key_text *k, char *value);
int key_text_collector(struct key_text *k, const char *value);
int key_text_preshared(struct key_text *k, char *value);
int key_text_next(struct key_text *k, const char *value);
/* Wipes `k`. Returns the pipe's end, or -errno. */
int key_text_open(struct key_text *k);

#endif
