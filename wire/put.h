/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Put: the messages between saluki-collector and saluki-kafka, which carries combos to brokers and
 * back. SOCK_SEQPACKET on a Unix socket of the collector, one message each packet, integers in
 * network order. `saluki-kafka put` connects to --sink, and the collector sends PUTs. `saluki-kafka
 * get` connects to --source, and sends PUTs to the collector.
 *
 *     HELLO    type 1, magic 4, version 1, role 1                       both, first
 *     PUT      type 1, number 8, topic 1, time 8, key length 1, header length 1, key, header, value
 *     DONE     type 1, numbers 8 each, at most PUT_DONE_MAX
 *     REFUSED  type 1, number 8, reason
 *     STATE    type 1, text
 *
 * A PUT is one Kafka message: its topic (PUT_COMBOS ...), its time stamp in ms since 1970-01-01
 * UTC, its key, the value of its Kafka header PUT_HEADER_NAME, and its value. DONE: the brokers
 * have the message, or the files have it. REFUSED: the brokers will never take this message. A
 * number is the sender's; it means nothing else. A PUT without DONE or REFUSED is sent again in the
 * next connection, in the same order.
 *
 * STATE comes from saluki-kafka, once a second and after changes: "key=value\n" lines. Unknown keys
 * are skipped. `why`: why nothing is carried at present; without it, all is well. `lag`: messages
 * in the topic that get has not sent yet. `moves`: how often partitions came to get or went, since
 * it began; it comes before the first message of a partition that came. `topic`, `brokers`: names,
 * for people.
 *
 * The topics, whose names begin with the same prefix ("saluki" unless the user gives another one):
 *
 *     PUT_COMBOS     PREFIX.combos; key: the sensor's name; header: struct put_name; value: a
 *                    combo (combo.h), totals (totals.h) or progress (progress.h), as received
 *     PUT_SENSORS    PREFIX.sensors, compacted; key NAME/HASH, HASH as 16 hex digits: what the
 *                    combos' `info` names (collector/model/sensor_record.h); key
 *                    dictionary/CODEC: the zstd dictionary of this codec of combos
 *     PUT_LEDGER     PREFIX.ledger; key: the sensor's name; value: its ledger as JSON
 */
#ifndef WIRE_PUT_H
#define WIRE_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUT_MAGIC 0x534c4b49u /* "SLKI" */
#define PUT_VERSION 1
#define PUT_HEADER_NAME "saluki"

enum put_type { PUT_HELLO, PUT_MESSAGE, PUT_DONE, PUT_REFUSED, PUT_STATE };
enum put_role { PUT_ROLE_SINK, PUT_ROLE_SOURCE };
enum put_topic { PUT_COMBOS, PUT_SENSORS, PUT_LEDGER, PUT_TOPICS };

#define PUT_HELLO_LEN 7
#define PUT_HEAD_LEN 20
#define PUT_KEY_MAX 64
#define PUT_VALUE_MAX 65536
#define PUT_MAX (PUT_HEAD_LEN + PUT_KEY_MAX + 255 + PUT_VALUE_MAX)
#define PUT_DONE_MAX 256
#define PUT_DONE_BYTES (1 + PUT_DONE_MAX * 8)
#define PUT_TEXT_MAX 1024

/* One message. The pointers are not owned. */
struct put {
	uint64_t number;
	enum put_topic topic;
	uint64_t time_ms; /* since 1970-01-01 UTC */
	const void *key, *header, *value;
	size_t key_len, header_len, value_len; /* bytes */
};

/* Writes the bytes before the value to `out` (PUT_HEAD_LEN + PUT_KEY_MAX + 255), so that a value
 * needs no copy. Returns their number. */
size_t put_write(uint8_t *out, const struct put *p);
/* Reads a message, and points into it. Returns 0 or -EBADMSG. */
int put_read(struct put *p, const uint8_t *in, size_t len);

/* Writes PUT_HELLO_LEN bytes. */
void put_hello(uint8_t *out, enum put_role role);
/* Returns 0; -EPROTO: another version; -EPROTOTYPE: the other role; -EBADMSG: something else. */
int put_hello_read(const uint8_t *in, size_t len, enum put_role role);

/* ---- the header of messages in PREFIX.combos ------------------------------------------------- */

#define PUT_NAME_VERSION 1
#define PUT_NAME_LEN 40

enum put_kind {
	PUT_KIND_COMBO = 1,
	PUT_KIND_TOTALS = 2,   /* with `final` in them, no combo of the run follows */
	PUT_KIND_PROGRESS = 3, /* for the unified trace: progress.h */
};

/* version 1, kind 1, sensor 2, frames 4, run 8, count 8, first 8, info 8 */
struct put_name {
	uint8_t kind;	 /* enum put_kind */
	uint16_t sensor; /* its id, in the combo's header too */
	uint32_t frames; /* in the combo */
	uint64_t run;	 /* of the sensor's agent: random */
	uint64_t count;	 /* of the combo in its run, from 0; other kinds: of the next one */
	uint64_t first;	 /* frames of the run before this combo; other kinds: 0 */
	uint64_t info;	 /* HASH of the sensor's record in PREFIX.sensors */
};

void put_name_write(uint8_t out[PUT_NAME_LEN], const struct put_name *n);
/* Later versions may add bytes at the end. Returns 0; -EPROTO: another version, or an unknown kind;
 * -EBADMSG. */
int put_name_read(struct put_name *n, const uint8_t *in, size_t len);

#endif
