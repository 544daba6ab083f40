/* SPDX-License-Identifier: GPL-2.0 */
/* Datagram: a received datagram, not authenticated yet. */
#ifndef COLLECTOR_NETWORK_DATAGRAM_H
#define COLLECTOR_NETWORK_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct datagram {
	const uint8_t *bytes;
	size_t len;
	const struct sockaddr *from;
	socklen_t from_len;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

#endif
