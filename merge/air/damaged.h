/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Damaged: finds the transmission of a frame with a wrong FCS. Its key is not to be trusted, but
 * most of its bytes are right: length, sequence control, and DAMAGED_EQUAL of the MAC header's
 * bytes must be those of the transmission. Subframes of one A-MPDU differ in nothing but the
 * sequence control, so that this must be whole.
 */
#ifndef MERGE_AIR_DAMAGED_H
#define MERGE_AIR_DAMAGED_H

#include "merge/model/transmission.h"

#define DAMAGED_NEAR_NS 55000 /* as far as the most uncertain reception of other frames */
#define DAMAGED_HEADER 24     /* bytes of the MAC header */
#define DAMAGED_EQUAL 20

/* Returns the only transmission that the damaged one can belong to, or NULL. It is looked for among
 * the `older` and `newer` ones. */
struct transmission *damaged_belongs_to(const struct transmission *damaged);

#endif
