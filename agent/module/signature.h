/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signature: names the author of a module. M.o.sig beside M.o has seven lines of text:
 *
 *     saluki module signature 1
 *     name count
 *     serial 1763865600
 *     interface 1
 *     object 0f3a...	(BLAKE2b-256 of the object, in hexadecimal)
 *     key 3QzI...	(Ed25519 public key, base64)
 *     signature m9X8...
 *
 * The signature covers all bytes before its own line. The first line separates it from other uses
 * of the key. Only this exact form is accepted.
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
	uint32_t interface; /* MODULE_INTERFACE that it was compiled with */
	uint8_t object[OBJECT_HASH_LEN];
	uint8_t key[KEY_LEN];
	uint8_t signature[SIGNATURE_LEN];
};

/* Whether this is a valid module name. */
bool module_name_valid(const char *name);

/* Signs. All fields except `key` and `signature` are set. `seed` is the private key, as key_new()
 * of agent/command/module_keys.c prints it. */
void signature_make(struct module_signature *s, const uint8_t seed[KEY_LEN]);
/* Derives the public key of a private one. */
void signature_public(uint8_t public[KEY_LEN], const uint8_t seed[KEY_LEN]);

/* Writes the text; returns its length. */
size_t signature_print(char text[SIGNATURE_TEXT_MAX], const struct module_signature *s);
/* Reads it, without checking the signature: see signature_valid(). Returns 0, or -EBADMSG with the
 * reason in `why`. */
int signature_parse(struct module_signature *s, const char *text, size_t len, const char **why);
/* Whether `key` has signed this. */
bool signature_valid(const struct module_signature *s);

#endif
