/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network headers of a frame in its short line: from an EtherType or an LLC header through the
 * transport header, with tcpdump's words. Bounds and sources as in bpf/parse_network.h.
 */
#ifndef PRINT_LINE_NETWORK_H
#define PRINT_LINE_NETWORK_H

#include <stdbool.h>

#include "bpf/parse_frame.h"
#include "text.h"

/* `off`: the byte after the EtherType; `len`: the bytes from there to the frame's end on the
 * wire. */
void line_network(struct text *t, struct frame *f, unsigned int off, unsigned int len,
		  unsigned int ethertype);
/* `off`: of the LLC header. */
void line_llc(struct text *t, struct frame *f, unsigned int off, unsigned int len);
/* An Ethernet frame. `link`: with its addresses. Returns the offset after the link-layer header. */
unsigned int line_ethernet(struct text *t, struct frame *f, bool link);

#endif
