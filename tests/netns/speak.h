/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that the tests' own sensors use to talk to a collector on the loopback: a socket, a session
 * (Tryst, then Shroud), messages, combos split into pieces. The including program makes the
 * content. Nothing is sent twice: the loopback loses only datagrams that a full receiver drops.
 */
#ifndef TESTS_SPEAK_H
#define TESTS_SPEAK_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire/combo.h"
#include "wire/message.h"
#include "wire/tryst.h"

#ifndef SPEAK_WINDOW
#define SPEAK_WINDOW 1024
#endif
#define SPEAK_PATIENCE 60	/* seconds, for a collector on a busy machine */
#define SPEAK_RECEIVE_US 200000 /* per recv(2) */
#define SPEAK_HEARD_EVERY 32	/* of the collector's datagrams */
#define SPEAK_OWNER 1		/* of the addresses in the table */

static int sock;
static struct keypair own;
static uint8_t peer[KEY_LEN], pair[KEY_LEN];
static uint16_t sensor_id;
static struct table table; /* addresses the collector may send to */
static struct shroud_tx tx;
static struct shroud_rx rx;
static uint32_t window;
static struct ack last_ack; /* of this session */
static uint64_t heard_said;
static unsigned int set_ups; /* handshake messages sent */

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static uint64_t speak_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Writes the combo to `out`, uncompressed, and frees it. Returns its length. */
static inline size_t speak_combo_stored(uint8_t *out, struct combo *c, uint64_t number)
{
	size_t len = COMBO_HEADER_LEN + COMBO_CODEC_LEN;

	combo_close(c);
	combo_header_write(out, sensor_id, number, c->frames, c->body_len);
	out[COMBO_HEADER_LEN] = COMBO_STORED;
	memcpy(out + len, c->body, c->body_len);
	len += c->body_len;
	combo_free(c);
	return len;
}

static void speak_connect(const char *key_file, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	struct timeval wait = { .tv_usec = SPEAK_RECEIVE_US };
	struct keys_peers peers;
	const char *why = "";

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (connect(sock, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		fail("connect");
	if (keys_init() || keys_read(open(key_file, O_RDONLY), &own, &peers, &why))
		fail(why);
	memcpy(peer, peers.peer[0].public, KEY_LEN);
	if (tryst_pair(pair, &own, peer, true, peers.peer[0].preshared) ||
	    table_init(&table, SPEAK_WINDOW))
		fail("keys");
}

/* Sends an m1 in one of the slots that the collector expects now. */
static void speak_hello(struct tryst_asked *a, struct tryst_hello *hello)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	uint64_t slots[TRYST_SLOTS];
	long len;

	hello->time_ns = speak_clock_ns(CLOCK_REALTIME);
	tryst_slots(slots, pair, hello->time_ns / TRYST_INTERVAL_NS);
	len = tryst_init(a, out, &(struct tryst_keys){ &own, peer, pair },
			 slots[randombytes_uniform(TRYST_SLOTS)], hello, 0);
	if (len < 0 || send(sock, out, len, 0) < 0)
		fail("hello");
	set_ups++;
}

/* Waits a while for the answer: another process may have used the slot. */
static bool speak_answered(struct tryst_asked *a, struct tryst_welcome *welcome,
			   uint8_t k2[KEY_LEN])
{
	uint64_t until = speak_clock_ns(CLOCK_MONOTONIC) + 2000000000ULL;
	uint8_t in[SHROUD_DATAGRAM_MAX];

	while (speak_clock_ns(CLOCK_MONOTONIC) < until) {
		/* ACKs of the session before may still come. */
		long n = recv(sock, in, sizeof(in), 0);

		if (n >= 8 && !memcmp(in, a->answer, 8) &&
		    !tryst_finish(a, &own, welcome, k2, in, n))
			return true;
	}
	return false;
}

static void speak_set_up(uint64_t run, const char *info)
{
	struct tryst_hello hello = { .run = run, .window = SPEAK_WINDOW };
	struct tryst_welcome welcome;
	struct shroud_keys up, down;
	uint8_t k2[KEY_LEN], chain[KEY_LEN];
	struct tryst_asked a;
	int tries = 0;

	hello.info_len = strlen(info) < TRYST_INFO_MAX ? strlen(info) : TRYST_INFO_MAX;
	memcpy(hello.info, info, hello.info_len);
	do {
		if (tries++ == SPEAK_PATIENCE)
			fail("no answer");
		speak_hello(&a, &hello);
	} while (!speak_answered(&a, &welcome, k2));
	tryst_session(k2, &up, &down, chain);
	shroud_tx_init(&tx, &up);
	shroud_rx_free(&rx, &table);
	if (shroud_rx_init(&rx, &table, &down, SPEAK_OWNER, SHROUD_WINDOW_DOWN))
		fail("table");
	window = welcome.window;
	sensor_id = welcome.sensor_id;
	memset(&last_ack, 0, sizeof(last_ack));
	heard_said = 0;
}

static void speak_sealed(const uint8_t *message, size_t len)
{
	uint8_t out[65536];

	if (send(sock, out, shroud_seal(&tx, out, message, len, 0), 0) < 0)
		fail("send");
}

/* Receives a datagram from the collector. Returns false after a timeout. */
static bool speak_receive(void)
{
	uint8_t in[SHROUD_DATAGRAM_MAX], message[SHROUD_DATAGRAM_MAX] = { 0 };
	uint8_t heard[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD };
	const struct table_entry *e;
	uint64_t number;
	long n = recv(sock, in, sizeof(in), 0);

	if (n < 0)
		return false;
	e = n >= SHROUD_ADDRESS_LEN ? table_find(&table, load_word(in), NULL) : NULL;
	if (!e)
		return true; /* of the session before */
	n = shroud_open(&rx, &table, e->low, &number, message, in, n);
	if (n > 0 && message[0] == MESSAGE_ACK && number == rx.highest &&
	    ack_read(&last_ack, message, n))
		fail("an ACK that is none");
	if (rx.highest >= heard_said + SPEAK_HEARD_EVERY) {
		heard_said = rx.highest;
		store_be(heard + 1, heard_said, 8);
		speak_sealed(heard, sizeof(heard));
	}
	return true;
}

/* Returns whether the collector has processed all datagrams sent, as far as is known. */
static inline bool speak_all_seen(void)
{
	return last_ack.highest == tx.next - 1;
}

/* Sends a message when the collector knows its address. */
static void send_message(const uint8_t *message, size_t len)
{
	uint64_t until = speak_clock_ns(CLOCK_MONOTONIC) + SPEAK_PATIENCE * 1000000000ULL;

	while (tx.next > last_ack.highest + shroud_room(last_ack.highest, window)) {
		if (speak_clock_ns(CLOCK_MONOTONIC) > until)
			fail("the collector acknowledges nothing");
		speak_receive();
	}
	speak_sealed(message, len);
}

/* Sends the first `most` pieces of the `len` bytes of a combo. */
static inline void send_pieces(uint64_t number, const uint8_t *combo, size_t len, unsigned int most)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];

	for (size_t at = 0; at < len && most--; at += PIECE_DATA_MAX) {
		size_t n = len - at < PIECE_DATA_MAX ? len - at : PIECE_DATA_MAX;

		piece_header_write(message, number, at, len);
		memcpy(message + PIECE_HEADER_LEN, combo + at, n);
		send_message(message, PIECE_HEADER_LEN + n);
	}
}

#endif
