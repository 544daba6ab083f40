/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The body of an 802.11 management frame in a short line: SSID, channel, reasons.
 * Source: IEEE 802.11-2020, 9.3.3 and 9.4.
 */
#ifndef PRINT_LINE_MANAGEMENT_H
#define PRINT_LINE_MANAGEMENT_H

#include "bpf/parse_frame.h"
#include "text.h"

/* `off`: of the body, which is not encrypted. */
void line_management(struct text *t, struct frame *f, unsigned int off, unsigned int subtype);

#endif
