/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a radio hears nothing where it should (--deaf-after). In: how long it was listened, and how
 * many frames came. Out: that it has become deaf, or hears again; each once.
 */
#ifndef AGENT_RADIO_SILENCE_WATCH_H
#define AGENT_RADIO_SILENCE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Of a channel, or of all of an interface's. */
struct silence_watch {
	uint32_t silent_ms; /* of listening since the last frame */
	bool heard;	    /* something, at some time */
	bool is;
	bool said; /* that it is */
};

enum silence_watch_news { SILENCE_WATCH_NOTHING_NEW, SILENCE_WATCH_NOW, SILENCE_WATCH_NO_MORE };

/* `always`: also where nothing was ever heard. */
static inline enum silence_watch_news silence_watch_listened(struct silence_watch *d,
							     uint64_t frames, uint64_t ms,
							     uint32_t after_ms, bool always)
{
	bool was = d->is;

	d->heard |= frames > 0;
	d->silent_ms = frames ? 0 : ms < UINT32_MAX - d->silent_ms ? d->silent_ms + ms : UINT32_MAX;
	d->is = after_ms && d->silent_ms >= after_ms && (d->heard || always);
	if (d->is == was)
		return SILENCE_WATCH_NOTHING_NEW;
	return d->is ? SILENCE_WATCH_NOW : SILENCE_WATCH_NO_MORE;
}

#endif
