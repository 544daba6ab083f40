// SPDX-License-Identifier: GPL-2.0
/* Channel and signal: see line_radio.h. */
#include "line_radio.h"

#include "wire/channel.h"

void radio_line(struct text *t, const struct radio *r)
{
	unsigned int mhz = r->sent.mhz;
	struct radio_channel c = { .mhz = mhz, .width = 20, .center = mhz };
	char name[CHANNEL_TEXT_LEN];

	if (mhz && channel_number(mhz)) {
		channel_text(name, &c);
		text_add(t, "ch %s ", name);
	} else if (mhz) {
		text_add(t, "%u MHz ", mhz);
	}
	if (r->has & DISSECT_SIGNAL)
		text_add(t, "%ddBm ", r->signal);
}
