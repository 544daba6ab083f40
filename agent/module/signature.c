// SPDX-License-Identifier: GPL-2.0
/* Signature: see signature.h. */
#include "signature.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(KEY_LEN == crypto_sign_PUBLICKEYBYTES && KEY_LEN == crypto_sign_SEEDBYTES,
	       "Ed25519");
_Static_assert(SIGNATURE_LEN == crypto_sign_BYTES, "Ed25519");

#define BASE64 sodium_base64_VARIANT_ORIGINAL

bool module_name_valid(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_";
	size_t len = strlen(name);

	return len && len <= MODULE_NAME_MAX && strspn(name, letters) == len;
}

/* Writes the signed text. Returns its length. */
static size_t print_signed(char text[SIGNATURE_TEXT_MAX], const struct module_signature *s)
{
	char object[2 * OBJECT_HASH_LEN + 1], key[KEY_TEXT_LEN];

	sodium_bin2hex(object, sizeof(object), s->object, OBJECT_HASH_LEN);
	key_to_text(key, s->key);
	return snprintf(text, SIGNATURE_TEXT_MAX,
			"saluki module signature 1\nname %s\nserial %" PRIu64
			"\ninterface %u\nobject %s\nkey %s\n",
			s->name, s->serial, s->interface, object, key);
}

size_t signature_print(char text[SIGNATURE_TEXT_MAX], const struct module_signature *s)
{
	char signature[sodium_base64_ENCODED_LEN(SIGNATURE_LEN, BASE64)];
	size_t len = print_signed(text, s);

	sodium_bin2base64(signature, sizeof(signature), s->signature, SIGNATURE_LEN, BASE64);
	return len + snprintf(text + len, SIGNATURE_TEXT_MAX - len, "signature %s\n", signature);
}

/* Returns the rest of the line at `*text` after `word`, and moves `*text` past the line. Returns
 * NULL without `word`. */
static const char *line_of(const char **text, const char *word, char *value, size_t value_len)
{
	size_t skip = strlen(word), len = strcspn(*text, "\n");

	if (strncmp(*text, word, skip) || (*text)[len] != '\n' || len - skip >= value_len)
		return NULL;
	memcpy(value, *text + skip, len - skip);
	value[len - skip] = 0;
	*text += len + 1;
	return value;
}

/* Parsing of numbers and keys is loose: the text written from them must equal the input. */
static const char *parse_lines(struct module_signature *s, const char *text)
{
	char v[128];

	if (!line_of(&text, "saluki module signature 1", v, sizeof(v)))
		return "is no signature of a module ('saluki module sign' makes one)";
	if (!line_of(&text, "name ", v, sizeof(s->name)) || !module_name_valid(v))
		return "its line 2 is not 'name' and the name of a module";
	strcpy(s->name, v);
	if (!line_of(&text, "serial ", v, sizeof(v)))
		return "its line 3 is not 'serial' and a number";
	s->serial = strtoull(v, NULL, 10);
	if (!line_of(&text, "interface ", v, sizeof(v)))
		return "its line 4 is not 'interface' and a number";
	s->interface = strtoul(v, NULL, 10);
	if (!line_of(&text, "object ", v, sizeof(v)) ||
	    sodium_hex2bin(s->object, OBJECT_HASH_LEN, v, strlen(v), NULL, NULL, NULL))
		return "its line 5 is not 'object' and a hash";
	if (!line_of(&text, "key ", v, sizeof(v)) || key_from_text(s->key, v))
		return "its line 6 is not 'key' and a public key";
	if (!line_of(&text, "signature ", v, sizeof(v)) ||
	    sodium_base642bin(s->signature, SIGNATURE_LEN, v, strlen(v), NULL, NULL, NULL, BASE64))
		return "its line 7 is not 'signature' and a signature";
	return NULL;
}

int signature_parse(struct module_signature *s, const char *text, size_t len, const char **why)
{
	char own[SIGNATURE_TEXT_MAX], again[SIGNATURE_TEXT_MAX];

	memset(s, 0, sizeof(*s));
	*why = "is no signature of a module ('saluki module sign' makes one)";
	if (len >= sizeof(own))
		return -EBADMSG;
	memcpy(own, text, len);
	own[len] = 0;
	*why = parse_lines(s, own);
	if (*why)
		return -EBADMSG;
	*why = "is not written as 'saluki module sign' writes it";
	return signature_print(again, s) == len && !memcmp(again, own, len) ? 0 : -EBADMSG;
}

void signature_public(uint8_t public[KEY_LEN], const uint8_t seed[KEY_LEN])
{
	uint8_t secret[crypto_sign_SECRETKEYBYTES];

	crypto_sign_seed_keypair(public, secret, seed);
	sodium_memzero(secret, sizeof(secret));
}

void signature_make(struct module_signature *s, const uint8_t seed[KEY_LEN])
{
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	char text[SIGNATURE_TEXT_MAX];
	size_t len;

	crypto_sign_seed_keypair(s->key, secret, seed);
	len = print_signed(text, s);
	crypto_sign_detached(s->signature, NULL, (const uint8_t *)text, len, secret);
	sodium_memzero(secret, sizeof(secret));
}

bool signature_valid(const struct module_signature *s)
{
	char text[SIGNATURE_TEXT_MAX];
	size_t len = print_signed(text, s);

	return crypto_sign_verify_detached(s->signature, (const uint8_t *)text, len, s->key) == 0;
}
