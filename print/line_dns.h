/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A DNS message in a short line, nearly with tcpdump's words: the question, and how many records
 * answer it. Sources: RFC 1035, 6762.
 */
#ifndef PRINT_LINE_DNS_H
#define PRINT_LINE_DNS_H

#include <stdbool.h>

#include "bpf/parse_frame.h"
#include "text.h"

/* `off`: of the message; `len`: its length in bytes on the wire. `multicast`: by multicast DNS,
 * where a bit of the class has another meaning. */
void line_dns(struct text *t, struct frame *f, unsigned int off, unsigned int len, bool multicast);

#endif
