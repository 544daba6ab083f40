/* SPDX-License-Identifier: GPL-2.0 */
/* Capture headers of 802.11 with pseudonyms: the fields that are known stay, others become zeros:
 * vendors' fields, places (PPI), and what a driver left in names. */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_RADIO_H
#define KEEP_PSEUDONYM_PSEUDONYM_RADIO_H

#include "pseudonym_rewrite.h"

/* Takes a header of `len` bytes, which are all there: radio_read() of dissect/radio.h has read it.
 */
void pseudonym_radio(struct rewrite *r, uint16_t linktype, uint32_t len);

#endif
