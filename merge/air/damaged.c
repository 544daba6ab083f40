// SPDX-License-Identifier: GPL-2.0
/* Damaged: see damaged.h. */
#include "damaged.h"

#include <string.h>

#include "merge/frame/identity.h"

#define SEQUENCE_AT 22
#define RADIOTAP_LEN 2 /* where the header's length stands, little-endian */
/* A transmission's first reception is before its middle one. */
#define BACK_NS (4 * DAMAGED_NEAR_NS)
#define LOOK_MOST 1000 /* transmissions on either side: the air has room for some ten */

/* Returns the MAC header, or NULL if it was cut. */
static const uint8_t *header_of(const struct transmission *t)
{
	uint32_t len = t->frame[RADIOTAP_LEN] | t->frame[RADIOTAP_LEN + 1] << 8;

	return t->kept >= len + DAMAGED_HEADER ? t->frame + len : NULL;
}

static bool is_like(const struct transmission *t, const struct transmission *damaged)
{
	const uint8_t *a = header_of(t), *b = header_of(damaged);
	int equal = 0;

	if (!a || !b || memcmp(a + SEQUENCE_AT, b + SEQUENCE_AT, 2))
		return false;
	for (int i = 0; i < DAMAGED_HEADER; i++)
		equal += a[i] == b[i];
	return equal >= DAMAGED_EQUAL;
}

static bool can_be(const struct transmission *t, const struct transmission *damaged)
{
	int64_t off = transmission_ns(t) - transmission_ns(damaged);

	return t->class < FRAME_BAD_FCS && t->length == damaged->length &&
	       t->part == damaged->part && off <= DAMAGED_NEAR_NS && -off <= DAMAGED_NEAR_NS &&
	       is_like(t, damaged) && !heard_has_radio(t->first, damaged->radio) &&
	       !heard_has_radio(t->damaged, damaged->radio);
}

struct transmission *damaged_belongs_to(const struct transmission *damaged)
{
	int64_t at = transmission_ns(damaged);
	struct transmission *found = NULL, *t;
	unsigned int like = 0, looked = 0;

	for (t = damaged->older; t && t->first->unified_ns >= at - BACK_NS && looked < LOOK_MOST;
	     t = t->older, looked++)
		if (can_be(t, damaged) && ++like)
			found = t;
	looked = 0;
	for (t = damaged->newer;
	     t && t->first->unified_ns <= at + DAMAGED_NEAR_NS && looked < LOOK_MOST;
	     t = t->newer, looked++)
		if (can_be(t, damaged) && ++like)
			found = t;
	return like == 1 ? found : NULL;
}
