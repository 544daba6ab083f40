/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Silence watch: finds radios that hear nothing (--deaf-after). In: listening time and number of
 * frames. Out: that the radio became deaf or hears again, each once.
 */
#ifndef AGENT_RADIO_SILENCE_WATCH_H
#define AGENT_RADIO_SILENCE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* For one channel, or for all of an interface. */
struct silence_watch {
	uint32_t silent_ms; /* listening time since the last frame */
	bool heard;	    /* it has heard a frame */
	bool is;
	bool said; /* reported as deaf */
};

enum silence_watch_news { SILENCE_WATCH_NOTHING_NEW, SILENCE_WATCH_NOW, SILENCE_WATCH_NO_MORE };

/* `always`: also if it has never heard a frame. */
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
