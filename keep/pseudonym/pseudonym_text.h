/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses in texts, such as the name wlx0013ef8a2b01 of a radio, with pseudonyms. */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_TEXT_H
#define KEEP_PSEUDONYM_PSEUDONYM_TEXT_H

#include "pseudonym.h"

/*
 * Replaces each 12 hexadecimal digits with at most one of ":-_." between two of them. The
 * separators and the case stay.
 *
 * Digits can stand around an address. An address that ends a row of digits, in groups of 2, 4, 6 or
 * 12 with equal separators, is replaced alone: "ac001122334455" and "lab-2_00_11_22_33_44_55" keep
 * "ac" and "ab-2". If the digits can be several such addresses, or 12 or more others are together,
 * all of them are replaced.
 */
void pseudonym_text(struct pseudonyms *p, char *text, size_t len);

#endif
