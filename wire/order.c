// SPDX-License-Identifier: GPL-2.0
/* Orders: see order.h. */
#include "order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool printable(uint8_t c)
{
	return c >= ' ' && c <= '~';
}

static size_t text_write(uint8_t *out, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	for (size_t i = 0; i < len; i++)
		out[i] = printable(text[i]) ? (uint8_t)text[i] : ' ';
	return len;
}

/* `out` has room for `max` bytes and a 0. */
static int text_read(char *out, const uint8_t *in, size_t len, size_t max)
{
	if (len > max)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++)
		if (!printable(in[i]))
			return -EBADMSG;
	memcpy(out, in, len);
	out[len] = 0;
	return 0;
}

size_t order_write(uint8_t out[WIRE_ORDER_MESSAGE_MAX], uint64_t number, const char *text)
{
	out[0] = MESSAGE_ORDER;
	store_be(out + 1, number, 8);
	return 9 + text_write(out + 9, text, WIRE_ORDER_TEXT_MAX);
}

int order_read(struct order_message *o, const uint8_t *in, size_t len)
{
	if (len < 9 || in[0] != MESSAGE_ORDER)
		return -EBADMSG;
	o->number = load_be(in + 1, 8);
	return text_read(o->text, in + 9, len - 9, WIRE_ORDER_TEXT_MAX);
}

size_t answer_write(uint8_t out[ANSWER_MESSAGE_MAX], uint64_t number, uint8_t status,
		    const char *text)
{
	out[0] = MESSAGE_ANSWER;
	store_be(out + 1, number, 8);
	out[9] = status;
	return 10 + text_write(out + 10, text, ANSWER_TEXT_MAX);
}

int answer_read(struct answer_message *a, const uint8_t *in, size_t len)
{
	if (len < 10 || in[0] != MESSAGE_ANSWER)
		return -EBADMSG;
	a->number = load_be(in + 1, 8);
	a->status = in[9];
	return text_read(a->text, in + 10, len - 10, ANSWER_TEXT_MAX);
}

/* ---- what an order's text says --------------------------------------------------------------- */

static const char *const names[WIRE_ORDER_KINDS] = { "snaplen", "filter", "channels" };

const char *order_kind_name(enum order_kind kind)
{
	return names[kind];
}

/* Whether `*text` begins with the word. If so, moves `*text` past it and the blanks. */
static bool word(const char **text, const char *w)
{
	size_t len = strlen(w);

	if (strncmp(*text, w, len) || ((*text)[len] != ' ' && (*text)[len] != 0))
		return false;
	*text += len;
	*text += strspn(*text, " ");
	return true;
}

static int parse_snaplen(struct order_setting *s, const char *text, const char **why)
{
	size_t digits = strspn(text, "0123456789");

	*why = "snaplen takes one whole number";
	if (digits == 0 || digits > 9 || text[digits])
		return -EINVAL;
	s->snaplen = 0;
	for (; *text; text++)
		s->snaplen = s->snaplen * 10 + (uint32_t)(*text - '0');
	return 0;
}

/* Reads a number of at most `max` at `*text`, and moves `*text` past it. */
static bool number(const char **text, uint32_t max, uint32_t *out)
{
	uint64_t value = 0;
	const char *at = *text;

	for (; *at >= '0' && *at <= '9' && value <= max; at++)
		value = value * 10 + (*at - '0');
	if (at == *text || value > max)
		return false;
	*out = value;
	*text = at;
	return true;
}

/* "LIST", "LIST share J/K", or nothing. */
static int parse_channels(struct order_channels *c, const char *text, const char **why)
{
	*c = (struct order_channels){ .list = text, .list_len = strcspn(text, " ") };
	*why = "behind a list of channels there may be: share J/K, J below K";
	text += c->list_len;
	text += strspn(text, " ");
	if (!*text)
		return 0;
	if (!word(&text, "share") || !number(&text, WIRE_ORDER_SHARES_MAX, &c->member) ||
	    *text++ != '/' || !number(&text, WIRE_ORDER_SHARES_MAX, &c->members) || *text ||
	    c->member >= c->members)
		return -EINVAL;
	return 0;
}

/* "CHANNEL MS" */
static int parse_focus(struct order_channels *c, const char *text, const char **why)
{
	size_t len = strcspn(text, " ");

	*c = (struct order_channels){ .focus = true };
	*why = "focus takes a channel and milliseconds, at most a day";
	if (!len || channel_parse(&c->channel, text, len, why))
		return -EINVAL;
	*why = "focus takes a channel and milliseconds, at most a day";
	text += len;
	text += strspn(text, " ");
	return number(&text, WIRE_ORDER_FOCUS_MAX_MS, &c->ms) && !*text ? 0 : -EINVAL;
}

/* One or two different keys. */
static int parse_keys(struct order_keys *k, const char *text, const char **why)
{
	*why = "keys takes one or two different public keys";
	for (k->count = 0; *text && k->count < WIRE_ORDER_KEYS_MAX; k->count++) {
		size_t len = strcspn(text, " ");
		char key[KEY_TEXT_LEN] = "";

		if (len != sizeof(key) - 1)
			return -EINVAL;
		memcpy(key, text, len);
		if (key_from_text(k->key[k->count], key))
			return -EINVAL;
		text += len;
		text += strspn(text, " ");
	}
	return *text || !k->count || (k->count == 2 && !memcmp(k->key[0], k->key[1], KEY_LEN))
		       ? -EINVAL
		       : 0;
}

void order_keys_write(char text[WIRE_ORDER_KEYS_TEXT], const struct order_keys *k)
{
	char key[KEY_TEXT_LEN];
	size_t len = snprintf(text, WIRE_ORDER_KEYS_TEXT, "set keys");

	for (unsigned int i = 0; i < k->count; i++) {
		key_to_text(key, k->key[i]);
		len += snprintf(text + len, WIRE_ORDER_KEYS_TEXT - len, " %s", key);
	}
}

int order_parse(struct order_setting *s, const char *text, const char **why)
{
	*why = "there are: set snaplen BYTES, set filter EXPRESSION, set channels LIST, "
	       "focus CHANNEL MS";
	text += strspn(text, " ");
	if (word(&text, "focus")) {
		s->kind = WIRE_ORDER_CHANNELS;
		return parse_focus(&s->channels, text, why);
	}
	if (!word(&text, "set"))
		return -EINVAL;
	if (word(&text, names[WIRE_ORDER_SNAPLEN])) {
		s->kind = WIRE_ORDER_SNAPLEN;
		return parse_snaplen(s, text, why);
	}
	if (word(&text, names[WIRE_ORDER_CHANNELS])) {
		s->kind = WIRE_ORDER_CHANNELS;
		return parse_channels(&s->channels, text, why);
	}
	if (word(&text, "keys")) {
		s->kind = WIRE_ORDER_KEYS;
		return parse_keys(&s->keys, text, why);
	}
	if (!word(&text, names[WIRE_ORDER_FILTER]))
		return -EINVAL;
	s->kind = WIRE_ORDER_FILTER;
	s->filter = text;
	return 0;
}
