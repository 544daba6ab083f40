/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a radio hears nothing where it should (--deaf-after). In: how long it was listened, and how
 * many frames came. Out: that it has become deaf, or hears again; each once.
 */
#ifndef AGENT_RADIO_DEAF_H
#define AGENT_RADIO_DEAF_H

#include <stdbool.h>
#include <stdint.h>

/* Of a channel, or of all of an interface's. */
struct deaf {
	uint32_t silent_ms; /* of listening since the last frame */
	bool heard;	    /* something, at some time */
	bool is;
	bool said; /* that it is */
};

enum deaf_news { DEAF_NOTHING_NEW, DEAF_NOW, DEAF_NO_MORE };

/* `always`: also where nothing was ever heard. */
static inline enum deaf_news deaf_listened(struct deaf *d, uint64_t frames, uint64_t ms,
					   uint32_t after_ms, bool always)
{
	bool was = d->is;

	d->heard |= frames > 0;
	d->silent_ms = frames ? 0 : ms < UINT32_MAX - d->silent_ms ? d->silent_ms + ms : UINT32_MAX;
	d->is = after_ms && d->silent_ms >= after_ms && (d->heard || always);
	if (d->is == was)
		return DEAF_NOTHING_NEW;
	return d->is ? DEAF_NOW : DEAF_NO_MORE;
}

#endif
