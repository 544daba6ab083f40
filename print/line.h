/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Our own short line, with tcpdump's words if there are any: time, interface, for 802.11 channel
 * and signal, types, addresses, lengths. In: a frame. Out: one line without its end. The form is
 * described in saluki-capture(1).
 */
#ifndef PRINT_LINE_H
#define PRINT_LINE_H

#include "common/pcap_read.h"
#include "print_options.h"
#include "stamp.h"
#include "text.h"

/* `interface`: its name, NULL if the line needs none. Returns where -x, -X and -A begin: the offset
 * after the link-layer headers, at most the captured length. */
unsigned int line_make(struct text *t, struct stamp *s, const struct pcap_frame *f,
		       const char *interface, const struct print_options *o);

#endif
