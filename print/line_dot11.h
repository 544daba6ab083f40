/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short line of an 802.11 frame. Source: IEEE 802.11-2020, clause 9.
 */
#ifndef PRINT_LINE_DOT11_H
#define PRINT_LINE_DOT11_H

#include "bpf/parse_frame.h"
#include "text.h"

/* Returns the offset after the link-layer headers, or the frame's length. */
unsigned int line_dot11(struct text *t, struct frame *f, int linktype);

#endif
