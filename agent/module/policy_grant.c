// SPDX-License-Identifier: GPL-2.0
/* A policy's entries below [Module NAME]: see policy.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy.h"
#include "words.h"

/* Takes one word of a list. */
typedef int take(struct module_grant *g, char *word, char why[POLICY_WHY_LEN]);

/* ---- lists ----------------------------------------------------------------------------------- */

static int take_key(struct module_grant *g, char *word, char why[POLICY_WHY_LEN])
{
	snprintf(why, POLICY_WHY_LEN, "Key: more than %d", GRANT_KEYS_MAX);
	if (g->key_count == GRANT_KEYS_MAX)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN,
		 "Key: %.60s: is no key; write what 'saluki module pubkey' prints", word);
	if (key_from_text(g->keys[g->key_count], word))
		return -EINVAL;
	g->key_count++;
	return 0;
}

static int take_interface(struct module_grant *g, char *word, char why[POLICY_WHY_LEN])
{
	snprintf(why, POLICY_WHY_LEN, "Interface: more than %d", GRANT_INTERFACES_MAX);
	if (g->interface_count == GRANT_INTERFACES_MAX)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN,
		 "Interface: %.60s: is no interface; write a name, or a pattern as mon*", word);
	if (strlen(word) >= IFNAMSIZ || strpbrk(word, " \t/"))
		return -EINVAL;
	strcpy(g->interfaces[g->interface_count++], word);
	return 0;
}

static int take_helper(struct module_grant *g, char *word, char why[POLICY_WHY_LEN])
{
	int number = words_helper(word);

	snprintf(why, POLICY_WHY_LEN,
		 "Helper: %.60s: is none that a module can have; saluki-module(1) lists those",
		 word);
	if (number < 0)
		return -EINVAL;
	g->helpers[number / 64] |= 1ULL << number % 64;
	return 0;
}

static int take_map_type(struct module_grant *g, char *word, char why[POLICY_WHY_LEN])
{
	int type = words_map_type(word);

	snprintf(why, POLICY_WHY_LEN,
		 "Map: %.60s: is no type that a module can have; saluki-module(1) lists those",
		 word);
	if (type < 0)
		return -EINVAL;
	g->map_types |= 1ULL << type;
	return 0;
}

/* Reads an integer, with an optional suffix K or M. */
static int number_read(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	int shift;

	errno = 0;
	*out = strtoull(text, &end, 10);
	shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
	if (*text < '0' || *text > '9' || errno || end[!!shift] || *out > max >> shift)
		return -EINVAL;
	*out <<= shift;
	return *out < min ? -EINVAL : 0;
}

static const struct field {
	const char *name;
	uint32_t bit;
	bool hashed, prefix; /* allowed ways to show it */
} fields[] = {
	{ "radiotap", VIEW_RADIOTAP, false, false }, { "mac", VIEW_MAC, true, false },
	{ "ssid", VIEW_SSID, true, false },	     { "ip", VIEW_IP, true, true },
	{ "ports", VIEW_PORTS, false, false },	     { "payload", VIEW_PAYLOAD, false, false },
	{ "label", VIEW_LABEL, false, false },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Reads the word after a field's name: how the field is shown; NULL: unchanged. */
static int take_how(struct module_grant *g, const struct field *f, const char *how,
		    char why[POLICY_WHY_LEN])
{
	uint64_t bytes = 0;

	if (f->bit == VIEW_PAYLOAD) {
		snprintf(why, POLICY_WHY_LEN, "Show: payload: how many bytes of it? From 1 to %d",
			 MODULE_PAYLOAD_MAX);
		if (!how || number_read(how, 1, MODULE_PAYLOAD_MAX, &bytes))
			return -EINVAL;
		g->payload = bytes;
		return 0;
	}
	snprintf(why, POLICY_WHY_LEN, "Show: %s %.60s: it can be shown as '%s'%s%s", f->name,
		 how ?: "", f->name, f->hashed ? " or 'hashed'" : " and in no other way",
		 f->prefix ? " or 'prefix'" : "");
	if (how && f->hashed && !strcmp(how, "hashed"))
		g->hashed |= f->bit;
	else if (how && f->prefix && !strcmp(how, "prefix"))
		g->prefix |= f->bit;
	else if (how)
		return -EINVAL;
	return 0;
}

static int take_field(struct module_grant *g, char *word, char why[POLICY_WHY_LEN])
{
	char *save, *name = strtok_r(word, " \t", &save), *how = strtok_r(NULL, " \t", &save);
	char *more = strtok_r(NULL, " \t", &save);
	size_t i = 0;

	while (i < FIELDS && strcmp(name, fields[i].name))
		i++;
	snprintf(
		why, POLICY_WHY_LEN,
		"Show: %.60s: no such field; there are radiotap, mac, ssid, ip, ports, payload and "
		"label",
		name);
	if (i == FIELDS)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "Show: %s: stands here twice", name);
	if (g->shown & fields[i].bit)
		return -EINVAL;
	g->shown |= fields[i].bit;
	snprintf(why, POLICY_WHY_LEN, "Show: %s: %.60s: a comma is missing in front of it", name,
		 more ?: "");
	return more ? -EINVAL : take_how(g, &fields[i], how, why);
}

static int take_all(struct module_grant *g, take *one, const char *entry, char *list,
		    char why[POLICY_WHY_LEN])
{
	char *word, *end;
	int err = 0;

	while (!err && (word = strsep(&list, ","))) {
		word += strspn(word, " \t");
		for (end = word + strlen(word); end > word && strchr(" \t", end[-1]); end--)
			end[-1] = 0;
		snprintf(why, POLICY_WHY_LEN, "%s: a word is missing beside a comma", entry);
		err = *word ? one(g, word, why) : -EINVAL;
	}
	return err;
}

/* ---- entries --------------------------------------------------------------------------------- */

static int take_number(struct module_grant *g, const char *word, const char *value,
		       char why[POLICY_WHY_LEN])
{
	const struct {
		const char *name;
		uint64_t max;
		uint32_t *out;
	} numbers[] = {
		{ "MapMemory", 1 << 30, NULL },
		{ "Instructions", 1000000, &g->instructions },
		{ "Events", 1000000, &g->events },
		{ "Priority", 100, &g->priority },
	};
	uint64_t n = 0;
	size_t i = 0;

	while (i < 4 && strcasecmp(word, numbers[i].name))
		i++;
	snprintf(why, POLICY_WHY_LEN,
		 "%.40s: no such entry; there are Key, Interface, Show, Helper, Map, MapMemory, "
		 "Instructions, Events, Priority and Proof",
		 word);
	if (i == 4)
		return -EINVAL;
	snprintf(why, POLICY_WHY_LEN, "%s: stands here twice", numbers[i].name);
	if (g->named & 1U << i)
		return -EINVAL;
	g->named |= 1U << i;
	snprintf(why, POLICY_WHY_LEN,
		 "%s: %.60s: must be a whole number from 0 to %llu; K or M may stand behind it",
		 numbers[i].name, value, (unsigned long long)numbers[i].max);
	if (number_read(value, 0, numbers[i].max, &n))
		return -EINVAL;
	if (numbers[i].out)
		*numbers[i].out = n;
	else
		g->map_memory = n;
	return 0;
}

#define PROOF_NAMED (1U << 31) /* the bit after those of the numbers */

static int take_proof(struct module_grant *g, const char *value, char why[POLICY_WHY_LEN])
{
	snprintf(why, POLICY_WHY_LEN, "Proof: stands here twice");
	if (g->named & PROOF_NAMED)
		return -EINVAL;
	g->named |= PROOF_NAMED;
	snprintf(why, POLICY_WHY_LEN,
		 "Proof: %.60s: no such choice; there are kernel and saluki (without Proof, the "
		 "kernel where it can)",
		 value);
	if (!strcmp(value, "kernel"))
		g->proof = GRANT_PROOF_KERNEL;
	else if (!strcmp(value, "saluki"))
		g->proof = GRANT_PROOF_SALUKI;
	else
		return -EINVAL;
	return 0;
}

int grant_entry(struct module_grant *g, const char *word, char *value, char why[POLICY_WHY_LEN])
{
	static const struct {
		const char *name;
		take *one;
	} lists[] = {
		{ "Key", take_key },	   { "Interface", take_interface }, { "Show", take_field },
		{ "Helper", take_helper }, { "Map", take_map_type },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcasecmp(word, lists[i].name))
			return take_all(g, lists[i].one, lists[i].name, value, why);
	if (!strcasecmp(word, "Proof"))
		return take_proof(g, value, why);
	return take_number(g, word, value, why);
}

bool grant_for_interface(const struct module_grant *g, const char *interface)
{
	for (unsigned int i = 0; i < g->interface_count; i++)
		if (fnmatch(g->interfaces[i], interface, 0) == 0)
			return true;
	return false;
}

bool grant_key(const struct module_grant *g, const uint8_t key[KEY_LEN])
{
	for (unsigned int i = 0; i < g->key_count; i++)
		if (!memcmp(g->keys[i], key, KEY_LEN))
			return true;
	return false;
}

bool grant_anonymises(const struct module_grant *g)
{
	return g->hashed || g->prefix;
}

void grant_print_shown(const struct module_grant *g, FILE *out)
{
	const char *before = "";

	fputs("sees ", out);
	for (size_t i = 0; i < FIELDS; i++) {
		if (!(g->shown & fields[i].bit))
			continue;
		fprintf(out, "%s%s", before, fields[i].name);
		if (fields[i].bit == VIEW_PAYLOAD)
			fprintf(out, " %u", g->payload);
		fputs(g->hashed & fields[i].bit	  ? " hashed"
		      : g->prefix & fields[i].bit ? " prefix"
						  : "",
		      out);
		before = ", ";
	}
	fprintf(out, "%s; may emit %u events a second; has priority %u\n",
		*before ? "" : "nothing that takes a grant", g->events, g->priority);
}
