/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests' own sensors need to speak with a collector on the loopback: a socket, a session,
 * messages, combos cut into pieces. Whoever includes this says what is in them.
 */
#ifndef TESTS_SPEAK_H
#define TESTS_SPEAK_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire/piece.h"
#include "wire/seal.h"

static int sock;
static struct seal_initiator initiator;
static struct seal_session session;
static uint16_t sensor_id;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static void speak_connect(const char *key_file, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	const char *why = "";

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (connect(sock, (struct sockaddr *)&to, sizeof(to)))
		fail("connect");
	if (keys_init() ||
	    keys_read(open(key_file, O_RDONLY), &initiator.own, initiator.peer, &why))
		fail(why);
}

static void speak_set_up(uint64_t run, const char *info)
{
	uint8_t buffer[SEAL_INIT_MAX];
	struct timespec t;
	long len;

	clock_gettime(CLOCK_REALTIME, &t);
	len = seal_init(&initiator, buffer, t.tv_sec * 1000000000ULL + t.tv_nsec, run, info,
			strlen(info));
	if (send(sock, buffer, len, 0) < 0)
		fail("send");
	do { /* receipts of the session before may still come */
		len = recv(sock, buffer, sizeof(buffer), 0);
		if (len < 0)
			fail("no answer");
	} while (buffer[0] != SEAL_ANSWER);
	if (seal_finish(&initiator, &session, &sensor_id, buffer, len))
		fail("not an answer");
}

static void send_message(const uint8_t *message, size_t len)
{
	uint8_t out[65536];

	if (send(sock, out, seal_datagram(&session.tx, out, message, len), 0) < 0)
		fail("send");
}

/* Sends the first `most` pieces of the `len` bytes of a combo. */
static void send_pieces(uint64_t number, const uint8_t *combo, size_t len, unsigned int most)
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
