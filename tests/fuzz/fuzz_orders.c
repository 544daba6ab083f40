// SPDX-License-Identifier: GPL-2.0
/* links: wire/order.o wire/keys.o wire/channel.o */
/*
 * Orders and answers of any bytes. Always holds: one that is read is printable and bounded, and is
 * the same when written again; an order's text is read completely or refused with a reason.
 */
#include <errno.h>

#include "fuzz.h"
#include "wire/order.h"

static void check_text(const char *text, size_t max)
{
	size_t len = strlen(text);

	CHECK(len <= max);
	for (size_t i = 0; i < len; i++)
		CHECK(text[i] >= ' ' && text[i] <= '~');
}

static void check_channels(const struct order_channels *c, const struct order_message *o)
{
	if (c->focus) {
		CHECK(channel_is_sound(&c->channel) && c->ms <= WIRE_ORDER_FOCUS_MAX_MS);
		return;
	}
	CHECK(c->list > o->text && c->list + c->list_len <= o->text + strlen(o->text));
	CHECK(!memchr(c->list, ' ', c->list_len));
	CHECK(c->members ? c->member < c->members : !c->member);
}

/* They are the same when written and read again. */
static void check_keys(const struct order_keys *k)
{
	char text[WIRE_ORDER_KEYS_TEXT];
	struct order_setting s;
	const char *why;

	CHECK(k->count > 0 && k->count <= WIRE_ORDER_KEYS_MAX);
	order_keys_write(text, k);
	CHECK(order_parse(&s, text, &why) == 0 && s.keys.count == k->count);
	CHECK(!memcmp(s.keys.key, k->key, k->count * KEY_LEN));
}

static void check_order(const uint8_t *in, size_t len)
{
	struct order_setting s;
	struct order_message o;
	uint8_t again[WIRE_ORDER_MESSAGE_MAX];
	const char *why = NULL;
	int err = order_read(&o, in, len);

	CHECK(err == 0 || err == -EBADMSG);
	if (err)
		return;
	check_text(o.text, WIRE_ORDER_TEXT_MAX);
	CHECK(order_write(again, o.number, o.text) == len && !memcmp(again, in, len));
	if (order_parse(&s, o.text, &why))
		CHECK(why);
	else if (s.kind == WIRE_ORDER_FILTER)
		CHECK(s.filter > o.text && s.filter <= o.text + strlen(o.text));
	else if (s.kind == WIRE_ORDER_CHANNELS)
		check_channels(&s.channels, &o);
	else if (s.kind == WIRE_ORDER_KEYS)
		check_keys(&s.keys);
	else
		CHECK(s.kind == WIRE_ORDER_SNAPLEN && s.snaplen <= 999999999);
}

static void check_answer(const uint8_t *in, size_t len)
{
	struct answer_message a;
	uint8_t again[ANSWER_MESSAGE_MAX];
	int err = answer_read(&a, in, len);

	CHECK(err == 0 || err == -EBADMSG);
	if (err)
		return;
	check_text(a.text, ANSWER_TEXT_MAX);
	CHECK(answer_write(again, a.number, a.status, a.text) == len && !memcmp(again, in, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len);

	check_order(copy, len);
	check_answer(copy, len);
	if (len >= 9) { /* most inputs are neither */
		copy[0] = MESSAGE_ORDER;
		check_order(copy, len);
		copy[0] = MESSAGE_ANSWER;
		check_answer(copy, len);
	}
	fuzz_free(copy);
	return 0;
}
