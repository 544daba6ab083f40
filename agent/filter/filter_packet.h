/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters for packet sockets (SO_ATTACH_FILTER). In: a filter for frames as they were on the wire
 * (filter.h). Out: classic BPF with the same verdict for frames as the kernel has them there: the
 * outer VLAN tag taken off, and four bytes shorter.
 */
#ifndef AGENT_FILTER_PACKET_H
#define AGENT_FILTER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/capture_options.h"
#include "filter.h"

/* What a filter on the kernel's side of a socket can ask for. */
enum filter_tags {
	FILTER_TAGS_NONE,    /* frames have no tag taken off, or the kernel does not say which */
	FILTER_TAGS_8100,    /* the tag, and whether there is one; it is taken for a C-VLAN's */
	FILTER_TAGS_WITH_ID, /* and the tag's protocol */
};

struct filter_packet {
	enum filter_tags tags;
	enum direction direction; /* what is not of it is refused; DIRECTION_INOUT asks nothing */
	uint32_t accept;	  /* bytes of an accepted frame that are copied, at least 1 */
	bool headers;		  /* Ethernet: of the commonest frames just the headers */
};

#define FILTER_PACKET_MAX BPF_MAXINSNS

/* Returns the number of instructions written to `out`, FILTER_PACKET_MAX at most, -E2BIG where
 * that is too few, -EINVAL where `f` is no sound filter. An empty one accepts every frame. */
int filter_packet(struct sock_filter *out, const struct filter *f, const struct filter_packet *how);
/* What the kernel says it has, to be asked of any socket. */
enum filter_tags filter_packet_tags(int fd);

#endif
