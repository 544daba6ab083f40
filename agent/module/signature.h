/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signature: who answers for a module. Beside M.o lies M.o.sig, seven lines of text:
 *
 *     saluki module signature 1
 *     name count
 *     serial 1763865600
 *     interface 1
 *     object 0f3a...	(BLAKE2b-256 of the object, in hexadecimal)
 *     key 3QzI...	(Ed25519 public key, base64)
 *     signature m9X8...
 *
 * The signature is of all bytes in front of its own line; the first line keeps what is signed here
 * apart from all else that a key may sign. A text is taken in this one form only.
 */
#ifndef AGENT_MODULE_SIGNATURE_H
#define AGENT_MODULE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/module.h>

#include "object.h"
#include "wire/keys.h"

#define SIGNATURE_LEN 64
#define SIGNATURE_TEXT_MAX 512

struct module_signature {
	char name[MODULE_NAME_MAX + 1];
	uint64_t serial;
	uint32_t interface; /* MODULE_INTERFACE of its author */
	uint8_t object[OBJECT_HASH_LEN];
	uint8_t key[KEY_LEN];
	uint8_t signature[SIGNATURE_LEN];
};

/* Whether this can be the name of a module. */
bool module_name_valid(const char *name);

/* Signs: all but `key` and `signature` is there. `seed` is the private key, as key_new() of
 * agent/command/module_keys.c prints it. */
void signature_make(struct module_signature *s, const uint8_t seed[KEY_LEN]);
/* The public key of a private one. */
void signature_public(uint8_t public[KEY_LEN], const uint8_t seed[KEY_LEN]);

/* Writes the text; returns its length. */
size_t signature_print(char text[SIGNATURE_TEXT_MAX], const struct module_signature *s);
/* Reads it. Whether the signature is right is for signature_valid() to say. Returns 0, or -EBADMSG
 * with the reason in `why`. */
int signature_parse(struct module_signature *s, const char *text, size_t len, const char **why);
/* Whether `key` has signed this. */
bool signature_valid(const struct module_signature *s);

#endif
