// SPDX-License-Identifier: GPL-2.0
/* Ring estimate: see ring_estimate.h. */
#include "ring_estimate.h"

#include "agent/source/clock.h"
#include "common/duration.h"
#include "common/log.h"

#define RING_ESTIMATE_AFTER_NS 1000000000ULL
#define RING_ESTIMATE_HEADER 32 /* a record's header, and the ring's header */

/* Returns the bytes that the BPF ring buffer reserves for a frame. */
static uint64_t class_of(uint64_t kept)
{
#define X(size)                                                                                    \
	if (kept <= (size))                                                                        \
		return (size);
	SALUKI_RING_CLASSES(X)
#undef X
	return kept;
}

static uint64_t frame_bytes(const struct source *s, uint64_t kept)
{
	if (s->room_frame)
		return s->room_frame;
	return RING_ESTIMATE_HEADER + (s->room_classes ? class_of(kept) : kept);
}

/* The same for rings in blocks, with this frame rate spread evenly over the rings. The rest of a
 * block stays empty when its time is over, or at its end. */
static uint64_t frames_in_blocks(const struct source *s, uint64_t frames, uint64_t rate)
{
	uint64_t a_block = frames / s->room_blocks ?: 1;
	uint64_t together = rate * s->room_block_ms / 1000 / s->interfaces ?: 1;

	return s->room_blocks * together / ((together + a_block - 1) / a_block);
}

void ring_estimate_tell(struct ring_estimate *r, const struct source *s, const struct totals *t,
			uint32_t snaplen)
{
	uint64_t now = monotonic_ns(), heard, bytes, frames, rate;
	char lasts[DURATION_TEXT_LEN];

	if (r->told || !s->room_bytes)
		return;
	if (!r->since_ns) {
		r->since_ns = now;
		r->at = *t;
	}
	if (now - r->since_ns < RING_ESTIMATE_AFTER_NS)
		return;
	r->told = true;
	heard = t->captured + t->ring_full - r->at.captured - r->at.ring_full;
	bytes = t->captured > r->at.captured
			? (t->kept_bytes - r->at.kept_bytes) / (t->captured - r->at.captured)
			: snaplen;
	frames = s->room_bytes / frame_bytes(s, bytes);
	rate = heard * RING_ESTIMATE_AFTER_NS / (now - r->since_ns);
	if (rate && s->room_blocks)
		frames = frames_in_blocks(s, frames, rate);
	if (!rate)
		log_line("-B: the ring has room for %llu frame%s of %llu bytes; nothing heard yet",
			 (unsigned long long)frames, PLURAL(frames), (unsigned long long)bytes);
	else
		log_line("-B: the ring has room for some %llu frames of %llu bytes, %s at the "
			 "present %llu frame%s/s",
			 (unsigned long long)frames, (unsigned long long)bytes,
			 duration_text(lasts, frames * 1000000 / rate), (unsigned long long)rate,
			 PLURAL(rate));
}
