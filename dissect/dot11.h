/* SPDX-License-Identifier: GPL-2.0 */
/* 802.11: type, addresses and what the body says first. Source: IEEE 802.11-2020, 9.2 and 9.3. */
#ifndef DISSECT_DOT11_H
#define DISSECT_DOT11_H

#include "radio.h"

/* A frame after the capture header. Returns its length on the air, with its FCS and without
 * padding; 0 if no header is there. */
unsigned int dot11_dissect(struct dissection *d, const struct frame *f, const struct radio *r);

#endif
