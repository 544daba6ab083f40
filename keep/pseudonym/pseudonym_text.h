/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses in texts, such as the name wlx0013ef8a2b01 of a radio, with pseudonyms. */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_TEXT_H
#define KEEP_PSEUDONYM_PSEUDONYM_TEXT_H

#include "pseudonym.h"

/* Replaces each address that is written as hexadecimal digits, the last 12 of a row, or with colons
 * or dashes. */
void pseudonym_text(struct pseudonyms *p, char *text, size_t len);

#endif
