/* SPDX-License-Identifier: GPL-2.0 */
/* Elements of management frames, with pseudonyms: SSIDs are replaced, elements that name nobody are
 * copied, and all others keep their id and length alone. */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_ELEMENTS_H
#define KEEP_PSEUDONYM_PSEUDONYM_ELEMENTS_H

#include "pseudonym_rewrite.h"

/* Takes the elements up to the last whole one. */
void pseudonym_elements(struct rewrite *r);

#endif
