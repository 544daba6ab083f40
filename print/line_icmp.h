/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP and ICMPv6 in a short line, with tcpdump's words. Sources: RFC 792, 4443, 4861, 3810.
 */
#ifndef PRINT_LINE_ICMP_H
#define PRINT_LINE_ICMP_H

#include "line_packet.h"

void line_icmp(struct packet *p);
void line_icmp6(struct packet *p);

#endif
