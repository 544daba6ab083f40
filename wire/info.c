// SPDX-License-Identifier: GPL-2.0
/* Codec of a sensor's description: see info.h. One table of keys for both directions. */
#include "info.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum kind { TEXT, FILTER, NUMBER_32, NUMBER_64 };

struct field {
	const char *key;
	enum kind kind;
	size_t at, size;
};

#define FIELD(type, key, kind, name)                                                               \
	{                                                                                          \
		key, kind, offsetof(struct type, name), sizeof(((struct type *)0)->name)           \
	}

static const struct field own_fields[] = {
	FIELD(info, "application", TEXT, application),
	FIELD(info, "os", TEXT, os),
	FIELD(info, "exported", NUMBER_64, exported),
	FIELD(info, "change", NUMBER_64, change),
	FIELD(info, "round_trip_us", NUMBER_64, round_trip_us),
	FIELD(info, "ahead_us", NUMBER_64, ahead_us),
	FIELD(info, "behind_us", NUMBER_64, behind_us),
	FIELD(info, "links", TEXT, links),
	FIELD(info, "trusts", TEXT, trusts),
	{ 0 },
};

static const struct field interface_fields[] = {
	FIELD(info_interface, "interface", TEXT, name),
	FIELD(info_interface, "source", TEXT, source),
	FIELD(info_interface, "snaplen", NUMBER_32, snaplen),
	FIELD(info_interface, "keep", TEXT, keep),
	FIELD(info_interface, "filter", FILTER, filter),
	{ 0 },
};

static bool printable(char c)
{
	return c >= 32 && c < 127;
}

void info_text(char *out, size_t size, const char *text)
{
	size_t len = strnlen(text, size);

	memset(out, 0, size);
	if (len < size) {
		memcpy(out, text, len);
	} else {
		memcpy(out, text, size - 1);
		memcpy(out + (size > 4 ? size - 4 : 0), "...", size > 4 ? 3 : size - 1);
	}
	for (; *out; out++)
		if (!printable(*out))
			*out = ' ';
}

static uint64_t number_get(const struct field *f, const char *base)
{
	uint32_t narrow;
	uint64_t v;

	if (f->kind == NUMBER_32) {
		memcpy(&narrow, base + f->at, sizeof(narrow));
		return narrow;
	}
	memcpy(&v, base + f->at, sizeof(v));
	return v;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* The limits for texts of interfaces and for filters. */
struct caps {
	size_t text, filter;
};

#define CAP_MIN 3 /* "..." */

/* Counts bytes that do not fit, without writing them. */
struct writer {
	char *out;
	size_t len, max;
	struct caps caps;
};

static void put_line(struct writer *w, const char *key, const char *number, const char *value)
{
	size_t room = w->len <= w->max ? w->max + 1 - w->len : 0;

	w->len += snprintf(room ? w->out + w->len : NULL, room, "%s%s=%s\n", key, number, value);
}

static size_t cap_of(const struct writer *w, const struct field *f, const char *number)
{
	size_t cap = f->kind == FILTER ? w->caps.filter : w->caps.text;

	return *number && cap < f->size ? cap : f->size - 1;
}

static void put_fields(struct writer *w, const struct field *f, const void *base,
		       const char *number)
{
	for (; f->key; f++) {
		char value[sizeof(((struct info_interface *)0)->filter)] = "";

		if (f->kind == TEXT || f->kind == FILTER)
			info_text(value, cap_of(w, f, number) + 1, (const char *)base + f->at);
		else if (number_get(f, base))
			snprintf(value, sizeof(value), "%llu",
				 (unsigned long long)number_get(f, base));
		if (*value)
			put_line(w, f->key, number, value);
	}
}

static size_t write_capped(char *out, size_t max, const struct info *i, struct caps caps)
{
	struct writer w = { .out = out, .max = max, .caps = caps };
	char number[] = ".0";

	*out = 0;
	put_fields(&w, own_fields, i, "");
	for (uint32_t n = 0; n < i->count && n < INFO_INTERFACES_MAX; n++) {
		number[1] = '0' + n;
		put_fields(&w, interface_fields, &i->interfaces[n], number);
	}
	return w.len;
}

/* With both limits at their minimum everything fits: the longest keys, texts and numbers. */
#define LASTING_LEAST                                                                              \
	(sizeof("application=") + 64 + sizeof("os=") + 128 + sizeof("change=") + 20 +              \
	 INFO_INTERFACES_MAX *                                                                     \
		 (sizeof("interface.0=") + sizeof("source.0=") + sizeof("snaplen.0=") +            \
		  sizeof("keep.0=") + sizeof("filter.0=") + 4 * CAP_MIN + 10))
#define MOMENT_LEAST                                                                               \
	(sizeof("exported=") + 20 + 3 * (sizeof("round_trip_us=") + 20) + sizeof("links=") +       \
	 INFO_INTERFACES_MAX + sizeof("trusts=") + KEY_SHORT_LEN)
_Static_assert(LASTING_LEAST <= INFO_LASTING_MAX, "what lasts of any info can be written");
_Static_assert(LASTING_LEAST + MOMENT_LEAST <= INFO_LEN_MAX, "any info can be written");

#define FILTER_CUTS (sizeof(((struct info_interface *)0)->filter) - CAP_MIN)
#define TEXT_CUTS (sizeof(((struct info_interface *)0)->name) - CAP_MIN)

/* Sets the limits so that `less` bytes are saved. Filters are truncated first. */
static struct caps caps_after(size_t cuts)
{
	size_t of_filters = cuts < FILTER_CUTS ? cuts : FILTER_CUTS;

	return (struct caps){ .filter = CAP_MIN + FILTER_CUTS - of_filters,
			      .text = CAP_MIN + TEXT_CUTS - (cuts - of_filters) };
}

static size_t write_within(char *out, size_t max, const struct info *i)
{
	size_t enough = FILTER_CUTS + TEXT_CUTS, low = 0;

	/* Find the smallest truncation that fits. */
	while (low < enough) {
		size_t cuts = (low + enough) / 2;

		if (write_capped(out, max, i, caps_after(cuts)) <= max)
			enough = cuts;
		else
			low = cuts + 1;
	}
	return write_capped(out, max, i, caps_after(enough));
}

size_t info_write(char out[INFO_LEN_MAX + 1], const struct info *i)
{
	return write_within(out, INFO_LEN_MAX, i);
}

void info_write_lasting(struct info_lasting *out, const struct info *i)
{
	struct info lasting = *i;

	lasting.exported = lasting.round_trip_us = lasting.ahead_us = lasting.behind_us = 0;
	lasting.links[0] = 0;
	*lasting.trusts = 0;
	out->change = i->change;
	out->len = write_within(out->text, INFO_LASTING_MAX, &lasting);
}

/* ---- read ------------------------------------------------------------------------------------ */

/* Reads digits. A number that is too large becomes the maximum. */
static uint64_t number_read(const char *value, size_t len, uint64_t max)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len && value[i] >= '0' && value[i] <= '9'; i++) {
		unsigned int digit = value[i] - '0';

		if (v > (max - digit) / 10)
			return max;
		v = v * 10 + digit;
	}
	return v;
}

static void value_read(const struct field *f, void *base, const char *value, size_t len)
{
	char *to = (char *)base + f->at;

	if (f->kind == NUMBER_64) {
		uint64_t v = number_read(value, len, UINT64_MAX);

		memcpy(to, &v, sizeof(v));
	} else if (f->kind == NUMBER_32) {
		uint32_t v = number_read(value, len, UINT32_MAX);

		memcpy(to, &v, sizeof(v));
	} else {
		memset(to, 0, f->size);
		for (size_t i = 0; i < len && i + 1 < f->size; i++)
			to[i] = printable(value[i]) ? value[i] : '?';
	}
}

static const struct field *field_find(const struct field *f, const char *key, size_t len)
{
	while (f->key && (strlen(f->key) != len || memcmp(f->key, key, len)))
		f++;
	return f->key ? f : NULL;
}

static void line_read(struct info *i, const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len);
	const struct field *f;
	void *base = i;
	size_t key_len;

	if (!equals)
		return;
	key_len = equals - line;
	if (key_len > 2 && line[key_len - 2] == '.') {
		unsigned int n = (unsigned char)line[key_len - 1] - '0';

		if (n >= INFO_INTERFACES_MAX)
			return;
		f = field_find(interface_fields, line, key_len - 2);
		base = &i->interfaces[n];
		if (f && n >= i->count)
			i->count = n + 1;
	} else {
		f = field_find(own_fields, line, key_len);
	}
	if (f)
		value_read(f, base, equals + 1, len - key_len - 1);
}

void info_read(struct info *i, const void *in, size_t len)
{
	const char *p = in, *end = p + len;

	memset(i, 0, sizeof(*i));
	while (p < end) {
		const char *newline = memchr(p, '\n', end - p);

		line_read(i, p, (newline ? newline : end) - p);
		p = newline ? newline + 1 : end;
	}
}
