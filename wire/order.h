/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Orders: the collector's commands to a sensor, and the sensor's answers (docs/wire.md, "Orders"):
 *
 *     MESSAGE_ORDER    kind 1, number 8, text             collector -> sensor
 *     MESSAGE_ANSWER   kind 1, number 8, status 1, text   sensor -> collector
 *
 * Always holds: a text that was read is terminated, printable ASCII and not longer than its array,
 * so it may be printed on a terminal.
 */
#ifndef WIRE_ORDER_H
#define WIRE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "keys.h"
#include "message.h"

#define WIRE_ORDER_TEXT_MAX 1000
#define ANSWER_TEXT_MAX 500
#define WIRE_ORDER_MESSAGE_MAX (9 + WIRE_ORDER_TEXT_MAX)
#define ANSWER_MESSAGE_MAX (10 + ANSWER_TEXT_MAX)

enum answer_status {
	ANSWER_DONE = 0,
	ANSWER_NOT_ALLOWED = 1, /* the sensor does not allow this kind of order */
	ANSWER_UNKNOWN = 2,	/* malformed, or unknown to this sensor */
	ANSWER_FAILED = 3,	/* it failed, and changed nothing */
	ANSWER_STALE = 4,	/* a later order was carried out before */
};

struct order_message {
	uint64_t number;
	char text[WIRE_ORDER_TEXT_MAX + 1];
};

struct answer_message {
	uint64_t number;
	uint8_t status; /* enum answer_status, or an unknown value */
	char text[ANSWER_TEXT_MAX + 1];
};

_Static_assert(WIRE_ORDER_MESSAGE_MAX + SHROUD_OVERHEAD <= SHROUD_DATAGRAM_PADDED - 2 &&
		       ANSWER_MESSAGE_MAX + SHROUD_OVERHEAD <= SHROUD_DATAGRAM_PADDED - 2,
	       "one datagram");

/* Return the bytes written. A text that is too long is truncated. Bytes outside printable ASCII
 * become blanks. */
size_t order_write(uint8_t out[WIRE_ORDER_MESSAGE_MAX], uint64_t number, const char *text);
size_t answer_write(uint8_t out[ANSWER_MESSAGE_MAX], uint64_t number, uint8_t status,
		    const char *text);
/* Return 0, or -EBADMSG if it is too short, too long, or its text is not printable. */
int order_read(struct order_message *o, const uint8_t *in, size_t len);
int answer_read(struct answer_message *a, const uint8_t *in, size_t len);

/* ---- what an order's text says --------------------------------------------------------------- */

enum order_kind {
	WIRE_ORDER_SNAPLEN,
	WIRE_ORDER_FILTER,
	WIRE_ORDER_CHANNELS,
	WIRE_ORDER_KINDS, /* in --allow-control */
	WIRE_ORDER_KEYS = WIRE_ORDER_KINDS,
};

#define WIRE_ORDER_FOCUS_MAX_MS 86400000
#define WIRE_ORDER_SHARES_MAX 65535

/* WIRE_ORDER_CHANNELS: the channels of a radio. */
struct order_channels {
	bool focus;
	/* Without focus: a list as for --channels, inside the text, not terminated, not checked.
	 * Empty: the list of the command line. */
	const char *list;
	size_t list_len;
	uint32_t member, members; /* share `member` of `members`; members 0: not shared */
	/* With focus: this channel, and for how long. */
	struct radio_channel channel;
	uint32_t ms;
};

#define WIRE_ORDER_KEYS_MAX 2
#define WIRE_ORDER_KEYS_TEXT (sizeof("set keys") + WIRE_ORDER_KEYS_MAX * KEY_TEXT_LEN)

/* WIRE_ORDER_KEYS: the collector's public keys, the one to prefer first. */
struct order_keys {
	unsigned int count;
	uint8_t key[WIRE_ORDER_KEYS_MAX][KEY_LEN];
};

struct order_setting {
	enum order_kind kind;
	uint32_t snaplen;   /* WIRE_ORDER_SNAPLEN: not range-checked */
	const char *filter; /* WIRE_ORDER_FILTER: inside the text, "": none */
	struct order_channels channels;
	struct order_keys keys;
};

/* "snaplen", "filter", "channels": as --allow-control names them. */
const char *order_kind_name(enum order_kind kind);
/* Writes the text of an order of WIRE_ORDER_KEYS. */
void order_keys_write(char text[WIRE_ORDER_KEYS_TEXT], const struct order_keys *k);
/* Returns 0, or -EINVAL with the reason in `why`. */
int order_parse(struct order_setting *s, const char *text, const char **why);

#endif
