/* SPDX-License-Identifier: GPL-2.0 */
/* Row: a frame of a capture file, as the tables take it. */
#ifndef KEEP_COLUMNS_ROW_H
#define KEEP_COLUMNS_ROW_H

#include "dissect/dissect.h"
#include "keep/model/sections.h"
#include "pcapng/combo_name.h"

struct row {
	struct section_interface *interface;
	const struct dissection *dissection;
	struct pcapng_block *block;
	int64_t ns;			/* since 1970 */
	uint64_t at;			/* of the block in the pcapng */
	const struct combo_name *combo; /* NULL: none */
	uint32_t number;		/* in the combo, from 0 */
	bool unsettled;			/* while the radio changed its channel */
};

#endif
