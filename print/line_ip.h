/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An IP packet in a short line, with tcpdump's words: addresses, and fields of TCP, UDP, ICMP
 * and other protocols. Sources: RFC 791, 8200, 9293, 768, 2784.
 */
#ifndef PRINT_LINE_IP_H
#define PRINT_LINE_IP_H

#include "bpf/parse_frame.h"
#include "text.h"

/* `off`: of the IP header; `len`: the bytes from there to the frame's end on the wire. */
void line_ip(struct text *t, struct frame *f, unsigned int off, unsigned int len,
	     unsigned int version);

#endif
