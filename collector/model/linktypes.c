// SPDX-License-Identifier: GPL-2.0
/* Link types: see linktypes.h. */
#include "linktypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/linktype.h>

/* LINKTYPE_ names of tcpdump.org in lower case, and common short names. */
static const struct {
	const char *name;
	uint16_t number;
} names[] = {
	{ "ethernet", LINKTYPE_ETHERNET },
	{ "ieee802_11", LINKTYPE_IEEE802_11 },
	{ "prism", LINKTYPE_PRISM },
	{ "ieee802_11_prism", LINKTYPE_PRISM },
	{ "radiotap", LINKTYPE_RADIOTAP },
	{ "ieee802_11_radiotap", LINKTYPE_RADIOTAP },
	{ "avs", LINKTYPE_AVS },
	{ "ieee802_11_avs", LINKTYPE_AVS },
	{ "ppi", LINKTYPE_PPI },
	{ "null", 0 },
	{ "ppp", 9 },
	{ "raw", 101 },
	{ "loop", 108 },
	{ "linux_sll", 113 },
	{ "ieee802_15_4", 195 },
	{ "ipv4", 228 },
	{ "ipv6", 229 },
	{ "linux_sll2", 276 },
};

static bool number_read(uint16_t *number, const char *word)
{
	unsigned long n;
	char *end;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(word, names[i].name)) {
			*number = names[i].number;
			return true;
		}
	n = strtoul(word, &end, 10);
	*number = n;
	return *word >= '0' && *word <= '9' && !*end && n <= UINT16_MAX;
}

static const char *word_read(struct linktypes *l, const char *word)
{
	uint16_t number;

	if (!strcmp(word, "any")) {
		l->any = true;
		return NULL;
	}
	if (!strcmp(word, "default")) {
		l->defaults = true;
		return NULL;
	}
	if (!number_read(&number, word))
		return "a link type is a number of tcpdump.org's list up to 65535, a name such as "
		       "ethernet or radiotap, 'default' or 'any'";
	if (l->count == LINKTYPES_MAX)
		return "a sensor can have 16 link types, or 'any'";
	l->list[l->count++] = number;
	return NULL;
}

const char *linktypes_read(struct linktypes *l, char *text)
{
	const char *wrong = NULL, *word;

	l->listed = true;
	do {
		word = strsep(&text, ",");
		wrong = word_read(l, word);
	} while (!wrong && text);
	return wrong;
}

bool linktypes_has(const struct linktypes *l, uint16_t linktype)
{
	if (l->any || ((!l->listed || l->defaults) && linktype_is_default(linktype)))
		return true;
	for (unsigned int i = 0; i < l->count; i++)
		if (l->list[i] == linktype)
			return true;
	return false;
}

void linktypes_word(char text[LINKTYPES_TEXT_LEN], const struct linktypes *l)
{
	size_t len = snprintf(text, LINKTYPES_TEXT_LEN, "linktypes=%s",
			      l->any			  ? "any,"
			      : !l->listed || l->defaults ? "default,"
							  : "");

	for (unsigned int i = 0; !l->any && i < l->count; i++)
		len += snprintf(text + len, LINKTYPES_TEXT_LEN - len, "%u,", l->list[i]);
	text[len - 1] = 0; /* the last comma */
}

void linktypes_entry(char text[LINKTYPES_TEXT_LEN], const struct linktypes *l, uint16_t linktype)
{
	size_t len = snprintf(text, LINKTYPES_TEXT_LEN, "linktypes=%s",
			      !l->listed || l->defaults ? "default," : "");

	if (l->count == LINKTYPES_MAX) {
		snprintf(text, LINKTYPES_TEXT_LEN, "linktypes=any");
		return;
	}
	for (unsigned int i = 0; i < l->count; i++)
		len += snprintf(text + len, LINKTYPES_TEXT_LEN - len, "%u,", l->list[i]);
	snprintf(text + len, LINKTYPES_TEXT_LEN - len, "%u", linktype);
}

int linktypes_80211(const struct linktypes *l)
{
	static const uint16_t types[] = { LINKTYPE_RADIOTAP, LINKTYPE_IEEE802_11, LINKTYPE_PRISM,
					  LINKTYPE_AVS, LINKTYPE_PPI };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (linktypes_has(l, types[i]))
			return types[i];
	return -1;
}
