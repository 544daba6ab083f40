// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic: a recording of ten sensors and their collector, made with the programs' functions in
 * wire/, for tests/wire/test_unlinkable.py. Each handshake is followed by a little data of every
 * kind, both ways, with easily recognised content: zeros, counters, the sensor's number.
 *
 *     traffic OUT SET-UPS pad|plain [LEAK]
 *
 * OUT.labels has 8 bytes per datagram: sensor 1, kind 1, way 1 (0 up, 1 down), zero 1, length 2,
 * low bits of the handshake's number 2, little-endian; OUT.bytes has the datagrams one after the
 * other. LEAK is a fault that the test must find, by its number below.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/request.h"
#include "wire/message.h"
#include "wire/totals.h"
#include "wire/tryst.h"

#define SENSORS 10

enum { /* kinds of datagrams without a message */
       KIND_INIT = 100,
       KIND_ANSWER,
       KIND_QUESTION,
       KIND_TIME,
};

enum leak {
	LEAK_NONE,
	LEAK_COUNTER,	 /* a byte that counts */
	LEAK_SENSOR_BIT, /* a bit that equals the sensor's with 5 of 8 */
	LEAK_RANDOM,	 /* r of an m1 that is repeated */
	LEAK_CONSTANT,	 /* a byte that is always the same in ACKs */
	LEAK_ADDRESS,	 /* an address that is used again in the next session */
	LEAK_LENGTH,	 /* padding that is one byte short in ACKs */
	LEAK_FIRST_BYTE, /* the first byte's top bit is 0 with 9 of 16 */
	LEAK_KIND,	 /* the last bit is the kind's, in handshakes and requests */
	LEAKS
};

struct side {
	struct shroud_tx tx;
	uint8_t last_address[SHROUD_ADDRESS_LEN];
};

struct sensor {
	uint8_t number;
	struct keypair own;
	uint8_t pair[KEY_LEN];
	uint64_t slots[TRYST_SLOTS], interval;
	unsigned int used;
	uint8_t last_random[16];
};

static struct keypair collector;
static struct sensor sensors[SENSORS];
static FILE *labels, *bytes;
static size_t padded;
static enum leak leak;
static uint64_t written, set_ups;

static void leak_into(uint8_t *datagram, size_t len, const struct sensor *s, int kind)
{
	switch (leak) {
	case LEAK_COUNTER:
		datagram[20] = (uint8_t)(written / 7);
		break;
	case LEAK_SENSOR_BIT:
		if (rand() % 4 == 0)
			datagram[30] = (datagram[30] & ~4) | (s->number & 1) << 2;
		break;
	case LEAK_CONSTANT:
		if (kind == MESSAGE_ACK)
			datagram[40] = 0x5a;
		break;
	case LEAK_FIRST_BYTE:
		if (rand() % 8 == 0)
			datagram[0] &= 0x7f;
		break;
	case LEAK_KIND:
		if (kind >= KIND_INIT)
			datagram[len - 1] = (datagram[len - 1] & ~1) | (kind & 1);
		break;
	default:
		break;
	}
}

static void record(const struct sensor *s, int kind, int way, uint8_t *datagram, size_t len)
{
	uint8_t label[8] = { s->number, (uint8_t)kind, (uint8_t)way };

	if (leak == LEAK_LENGTH && kind == MESSAGE_ACK)
		len--;
	leak_into(datagram, len, s, kind);
	store_le(label + 4, len, 2);
	store_le(label + 6, set_ups, 2);
	if (fwrite(label, sizeof(label), 1, labels) != 1 || fwrite(datagram, len, 1, bytes) != 1) {
		fprintf(stderr, "traffic: cannot write: %s\n", strerror(errno));
		exit(1);
	}
	written++;
}

static void say(struct sensor *s, struct side *side, int way, int kind, size_t len)
{
	uint8_t message[MESSAGE_MAX] = { (uint8_t)kind }, out[SHROUD_DATAGRAM_MAX];

	/* No random content: only the seal makes the datagram look random. */
	if (len > 1)
		message[1] = s->number;
	if (len > 9)
		store_be(message + 2, side->tx.next, 8);
	len = shroud_seal(&side->tx, out, message, len, padded);
	if (leak == LEAK_ADDRESS && side->tx.next == 3)
		memcpy(out, side->last_address, sizeof(side->last_address));
	else if (side->tx.next == 3)
		memcpy(side->last_address, out, sizeof(side->last_address));
	record(s, kind, way, out, len);
}

static void die(const char *what)
{
	fprintf(stderr, "traffic: %s\n", what);
	exit(1);
}

/* A request for a cookie, as from a sensor that has just booted, and an m1 with it. */
static void ask(struct sensor *s, uint64_t now)
{
	uint8_t out[SHROUD_DATAGRAM_MAX], answer[SHROUD_DATAGRAM_MAX];
	struct request_answer said = { .time_ns = now, .cookie = now };
	struct request_asked asked;
	struct request q;
	uint64_t date = s->number % 2 ? now / TRYST_INTERVAL_NS : REQUEST_UNDATED;

	if (request_cookie(&asked, out,
			   &(struct request_from){ &s->own, collector.public, now, date },
			   s->pair) ||
	    request_open(&q, &collector, out, REQUEST_LEN, date) || !request_proved(&q, s->pair))
		die("request");
	record(s, KIND_QUESTION, 0, out, REQUEST_LEN);
	record(s, KIND_TIME, 1, answer, request_answer(answer, &q, &said));
}

static uint64_t slot_of(struct sensor *s, uint64_t now)
{
	uint64_t interval = now / TRYST_INTERVAL_NS;

	if (interval != s->interval) {
		tryst_slots(s->slots, s->pair, interval);
		s->interval = interval;
		s->used = 0;
	}
	if (s->used == TRYST_SLOTS)
		die("no slot is left");
	return s->slots[s->used++];
}

static void set_up(struct sensor *s, uint64_t now, struct shroud_keys *up, struct shroud_keys *down)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX], m2[SHROUD_DATAGRAM_MAX], k2[KEY_LEN], chain[KEY_LEN];
	struct tryst_hello hello = { .run = s->number, .time_ns = now, .window = 1024 }, heard;
	struct tryst_welcome welcome = { .time_ns = now,
					 .window = 1024,
					 .flags = padded ? TRYST_PADDED : 0,
					 .sensor_id = s->number };
	struct tryst_asked asked;
	long len, answer;

	hello.info_len = snprintf((char *)hello.info, sizeof(hello.info),
				  "application=saluki\nos=Linux\ninterface.0=wlan0\nchange=%u\n",
				  s->number);
	len = tryst_init(&asked, m1, &(struct tryst_keys){ &s->own, collector.public, s->pair },
			 slot_of(s, now), &hello, SHROUD_DATAGRAM_PADDED);
	if (len < 0 || tryst_accept(&heard, s->pair, m1, len))
		die("m1");
	answer = tryst_answer(m2, k2, &(struct tryst_keys){ &collector, s->own.public, s->pair },
			      &heard, &welcome, m1, len);
	if (answer < 0 || tryst_finish(&asked, &s->own, &welcome, k2, m2, answer))
		die("m2");
	if (leak == LEAK_RANDOM && set_ups % 50 == 0)
		memcpy(m1 + 8, s->last_random, sizeof(s->last_random));
	memcpy(s->last_random, m1 + 8, sizeof(s->last_random));
	record(s, KIND_INIT, 0, m1, len);
	record(s, KIND_ANSWER, 1, m2, answer);
	tryst_session(k2, up, down, chain);
}

/* The content of a short session, in the programs' lengths. */
static void converse(struct sensor *s, struct side *up, struct side *down)
{
	size_t full = PIECE_HEADER_LEN + PIECE_DATA(padded ? padded - 2 : SHROUD_DATAGRAM_MAX);
	unsigned int which = set_ups % 8;

	say(s, up, 0, MESSAGE_TOTALS, 60 + rand() % 20);
	say(s, up, 0, MESSAGE_FLOOR, MESSAGE_FLOOR_LEN);
	say(s, up, 0, MESSAGE_PROBE, MESSAGE_PROBE_LEN);
	say(s, down, 1, MESSAGE_PROBED, MESSAGE_PROBED_LEN);
	say(s, down, 1, MESSAGE_ACK, ACK_LEN);
	say(s, up, 0, MESSAGE_COMBO, full);
	say(s, up, 0, MESSAGE_COMBO, PIECE_HEADER_LEN + 1 + rand() % 1000);
	say(s, up, 0, MESSAGE_COMBO, full);
	say(s, down, 1, MESSAGE_ACK, ACK_LEN);
	say(s, up, 0, MESSAGE_HEARD, MESSAGE_HEARD_LEN);
	if (which == 0) {
		say(s, down, 1, MESSAGE_CHALLENGE, MESSAGE_CHALLENGE_LEN);
		say(s, up, 0, MESSAGE_ECHO, MESSAGE_ECHO_LEN);
	} else if (which == 1) {
		say(s, up, 0, MESSAGE_RENEW, MESSAGE_RENEW_LEN);
		say(s, down, 1, MESSAGE_RENEWED, MESSAGE_RENEWED_LEN);
	} else if (which == 2) {
		say(s, down, 1, MESSAGE_ORDER, 9 + 14);
		say(s, up, 0, MESSAGE_ANSWER, 10 + 4);
	} else if (which == 3) {
		say(s, up, 0, MESSAGE_INFO, 120);
	}
}

static void make(unsigned int count)
{
	uint64_t now = 1800000000ULL * 1000000000;
	struct side up[SENSORS] = { 0 }, down[SENSORS] = { 0 };
	struct shroud_keys to, from;

	for (set_ups = 0; set_ups < count; set_ups++) {
		struct sensor *s = &sensors[rand() % SENSORS];

		now += TRYST_INTERVAL_NS / 20;
		if (s->used == TRYST_SLOTS)
			now += TRYST_INTERVAL_NS;
		if (set_ups % 4 == 0)
			ask(s, now);
		set_up(s, now, &to, &from);
		shroud_tx_init(&up[s->number].tx, &to);
		shroud_tx_init(&down[s->number].tx, &from);
		converse(s, &up[s->number], &down[s->number]);
	}
}

static FILE *output(const char *name, const char *suffix)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s", name, suffix);
	f = fopen(path, "we");
	if (!f)
		die(path);
	return f;
}

int main(int argc, char **argv)
{
	if (argc < 4 || keys_init()) {
		fprintf(stderr, "usage: traffic OUT SET-UPS pad|plain [LEAK]\n");
		return 2;
	}
	padded = strcmp(argv[3], "pad") == 0 ? SHROUD_DATAGRAM_PADDED : 0;
	leak = argc > 4 ? atoi(argv[4]) : 0;
	if (leak >= LEAKS)
		die("unknown leak");
	labels = output(argv[1], "labels");
	bytes = output(argv[1], "bytes");
	key_generate(collector.secret);
	key_public(collector.public, collector.secret);
	for (int i = 0; i < SENSORS; i++) {
		struct sensor *s = &sensors[i];

		s->number = i;
		key_generate(s->own.secret);
		key_public(s->own.public, s->own.secret);
		if (tryst_pair(s->pair, &s->own, collector.public, true, NULL))
			die("tryst_pair");
	}
	make(atoi(argv[2]));
	if (fclose(labels) || fclose(bytes))
		die("cannot write");
	return 0;
}
