/* SPDX-License-Identifier: GPL-2.0 */
/* 802.11 frames with pseudonyms: the MAC header, and what is known to name nobody behind it. */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_DOT11_H
#define KEEP_PSEUDONYM_PSEUDONYM_DOT11_H

#include "pseudonym_rewrite.h"

/* Takes a frame from its frame control on. `has_padding`: the header is padded to four bytes.
 * `is_bad`: the FCS was wrong; what a body's bytes are is not known then, and only the addresses
 * are taken. */
void pseudonym_dot11(struct rewrite *r, bool has_padding, bool is_bad);

#endif
