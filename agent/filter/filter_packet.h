/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters for packet sockets (SO_ATTACH_FILTER). In: a filter for frames as on the wire (filter.h).
 * Out: classic BPF with the same verdict for frames as the kernel presents them: without the outer
 * VLAN tag, and four bytes shorter.
 */
#ifndef AGENT_FILTER_PACKET_H
#define AGENT_FILTER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/capture_options.h"
#include "filter.h"

/* The requests that a socket's filter can fulfil. */
enum filter_tags {
	FILTER_TAGS_NONE,    /* no tag is removed, or the kernel does not report it */
	FILTER_TAGS_8100,    /* the kernel reports the TCI; TPID 0x8100 is assumed */
	FILTER_TAGS_WITH_ID, /* the kernel reports the TPID too */
};

struct filter_packet {
	enum filter_tags tags;
	enum direction direction; /* other directions are refused; DIRECTION_INOUT: none */
	uint32_t accept;	  /* bytes to copy of an accepted frame, at least 1 */
	bool headers;		  /* Ethernet: only the headers of the commonest frames */
};

#define FILTER_PACKET_MAX BPF_MAXINSNS

/* Returns the number of instructions written to `out`, at most FILTER_PACKET_MAX; -E2BIG if they do
 * not fit; -EINVAL if `f` is invalid. An empty filter accepts every frame. */
int filter_packet(struct sock_filter *out, const struct filter *f, const struct filter_packet *how);
/* Asks the kernel which tag extensions it has, on any socket. */
enum filter_tags filter_packet_tags(int fd);

#endif
