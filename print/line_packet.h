/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An IP packet, as the short line's functions pass it on: the transport header's offset, and the
 * length of the rest by the packet's header.
 */
#ifndef PRINT_LINE_PACKET_H
#define PRINT_LINE_PACKET_H

#include <stdbool.h>

#include "bpf/parse_frame.h"
#include "text.h"

struct packet {
	struct text *t;
	struct frame *f;
	unsigned int off; /* of the transport header */
	unsigned int len; /* bytes from there to the packet's end, by its header */
	unsigned int protocol, version;
	bool fragment;			/* the first one */
	unsigned int depth;		/* of IP inside IP */
	const unsigned char *from, *to; /* the addresses, 4 or 16 bytes */
};

static inline void packet_address(const struct packet *p, const unsigned char *address)
{
	if (p->version == 4)
		text_ipv4(p->t, address);
	else
		text_ipv6(p->t, address);
}

/* "FROM > TO:", with the ports if there are any. */
static inline void packet_ends(const struct packet *p, const unsigned char *ports)
{
	packet_address(p, p->from);
	if (ports)
		text_add(p->t, ".%u", parse_be16(ports));
	text_add(p->t, " > ");
	packet_address(p, p->to);
	if (ports)
		text_add(p->t, ".%u", parse_be16(ports + 2));
	text_add(p->t, ":");
}

#endif
