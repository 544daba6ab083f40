/* SPDX-License-Identifier: GPL-2.0 */
/* 802.11: what a body says first. Source: IEEE 802.11-2020, 9.2.4.7, 9.3.2.2 and 9.3.3. */
#ifndef DISSECT_DOT11_BODY_H
#define DISSECT_DOT11_BODY_H

#include "radio.h"

#define FCS_LEN 4
#define HEADER_LEN 24 /* of management frames, and of data frames with three addresses */

/* Bits of the second byte of frame control. */
enum { TO_DS = 1, FROM_DS = 2, PROTECTED = 0x40, ORDER = 0x80 };

/* SSID of a management frame, whose header is at `off`. */
void body_management(struct dissection *d, const struct frame *f, const struct radio *r,
		     unsigned int off);
/* EtherType of an unencrypted body at `off`; `qos`: the QoS control field, or 0. */
void body_msdu(struct dissection *d, const struct frame *f, const struct radio *r, unsigned int off,
	       unsigned int qos);
/* The same of the first subframe of an A-MSDU, and its source and destination. */
void body_amsdu(struct dissection *d, const struct frame *f, const struct radio *r,
		unsigned int off);

#endif
