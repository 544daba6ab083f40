// SPDX-License-Identifier: GPL-2.0
/* Records: see records.h. */
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"

#define BUCKETS (1u << 18)
#define HASH_DIGITS 16
#define DICTIONARY "dictionary/"

int records_init(struct records *r)
{
	*r = (struct records){ .buckets = calloc(BUCKETS, sizeof(*r->buckets)),
			       .list = calloc(RECORDS_MAX, sizeof(*r->list)) };
	crypto_shorthash_keygen(r->secret);
	return r->buckets && r->list ? 0 : -ENOMEM;
}

void records_free(struct records *r)
{
	for (unsigned int i = 0; i < r->count; i++)
		free(r->list[i]);
	free(r->list);
	free(r->buckets);
	*r = (struct records){ 0 };
}

/* ---- keys ------------------------------------------------------------------------------------ */

struct record_key {
	char name[SENSOR_NAME_MAX]; /* padded with zeros */
	uint64_t hash;
};

/* Reads 16 hex digits in lower case. */
static bool read_hash(uint64_t *hash, const char *text)
{
	*hash = 0;
	for (int i = 0; i < HASH_DIGITS; i++) {
		int c = text[i], digit = c >= '0' && c <= '9'	? c - '0'
					 : c >= 'a' && c <= 'f' ? c - 'a' + 10
								: -1;

		if (digit < 0)
			return false;
		*hash = *hash << 4 | (unsigned int)digit;
	}
	return true;
}

/* Reads NAME/HASH. Returns false for other keys. */
static bool read_key(struct record_key *k, const char *key, size_t len)
{
	size_t name = len < HASH_DIGITS + 2 ? 0 : len - HASH_DIGITS - 1;

	*k = (struct record_key){ 0 };
	if (!name || name >= sizeof(k->name) || key[name] != '/')
		return false;
	memcpy(k->name, key, name);
	return strlen(k->name) == name && sensors_file_name_valid(k->name) &&
	       read_hash(&k->hash, key + name + 1);
}

static struct record **bucket(const struct records *r, const struct record_key *k)
{
	uint8_t out[crypto_shorthash_BYTES];

	_Static_assert(sizeof(*k) == SENSOR_NAME_MAX + 8, "no bytes between");
	crypto_shorthash(out, (const uint8_t *)k, sizeof(*k), r->secret);
	return &r->buckets[load_be(out, 8) % BUCKETS];
}

static struct record *find(const struct records *r, const struct record_key *k)
{
	struct record *x = *bucket(r, k);

	while (x && (x->hash != k->hash || strcmp(x->name, k->name)))
		x = x->next;
	return x;
}

const struct record *records_find(const struct records *r, const char *name, uint64_t hash)
{
	struct record_key k = { .hash = hash };

	if (strlen(name) >= sizeof(k.name))
		return NULL;
	strcpy(k.name, name);
	return find(r, &k);
}

/* ---- put ------------------------------------------------------------------------------------- */

static void forget(struct records *r, struct record *old)
{
	struct record_key k = { .hash = old->hash };
	struct record **at;

	strcpy(k.name, old->name);
	for (at = bucket(r, &k); *at != old; at = &(*at)->next)
		;
	*at = old->next;
	free(old);
}

/* Gives a record its place. In a full list, that is the oldest record's. */
static void place(struct records *r, struct record *x)
{
	if (r->count < RECORDS_MAX) {
		r->list[r->count++] = x;
		return;
	}
	forget(r, r->list[r->oldest]);
	r->list[r->oldest] = x;
	r->oldest = (r->oldest + 1) % RECORDS_MAX;
}

static bool has_hash(const void *text, size_t len, uint64_t hash)
{
	uint8_t out[crypto_generichash_BYTES_MIN];

	crypto_generichash(out, sizeof(out), text, len, NULL, 0);
	return load_be(out, 8) == hash;
}

static int keep(struct records *r, const struct record_key *k, const void *text, size_t len)
{
	struct record *x, **in;

	if (find(r, k))
		return 0;
	x = malloc(sizeof(*x) + len);
	if (!x)
		return -ENOMEM;
	x->hash = k->hash;
	memcpy(x->name, k->name, sizeof(x->name));
	x->len = len;
	memcpy(x->text, text, len);
	place(r, x);
	in = bucket(r, k);
	x->next = *in;
	*in = x;
	return 0;
}

int records_put(struct records *r, const struct put *p)
{
	struct record_key k;

	if (!read_key(&k, p->key, p->key_len))
		return p->key_len > strlen(DICTIONARY) &&
				       !memcmp(p->key, DICTIONARY, strlen(DICTIONARY))
			       ? 0
			       : -EBADMSG;
	if (!p->value_len) /* the log forgets it; readers of older combos may not */
		return 0;
	if (p->value_len > SENSOR_RECORD_MAX || !has_hash(p->value, p->value_len, k.hash))
		return -EBADMSG;
	return keep(r, &k, p->value, p->value_len);
}
