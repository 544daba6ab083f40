// SPDX-License-Identifier: GPL-2.0
/* Ring estimate: see ring_estimate.h. */
#include "ring_estimate.h"

#include "agent/source/clock.h"
#include "common/duration.h"
#include "common/log.h"

#define RING_ESTIMATE_AFTER_NS 1000000000ULL
#define RING_ESTIMATE_HEADER 8 /* the BPF ring buffer's, before each record */

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
	if (s->room_mapped)
		return saluki_mapped_next(0, kept, s->room_bytes);
	return RING_ESTIMATE_HEADER + sizeof(struct saluki_record) + class_of(kept);
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
	const char *ring = s->room_mapped ? "each CPU's ring" : "the ring";
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
	if (s->room_mapped && s->room_bytes % frame_bytes(s, bytes))
		frames++; /* the last record may run past the end */
	rate = heard * RING_ESTIMATE_AFTER_NS / (now - r->since_ns);
	if (rate && s->room_blocks)
		frames = frames_in_blocks(s, frames, rate);
	if (!rate)
		log_info("-B: %s has room for %llu frame%s of %llu bytes; nothing heard yet", ring,
			 (unsigned long long)frames, PLURAL(frames), (unsigned long long)bytes);
	else
		log_info("-B: %s has room for some %llu frames of %llu bytes, %s at the "
			 "present %llu frame%s/s%s",
			 ring, (unsigned long long)frames, (unsigned long long)bytes,
			 duration_text(lasts, frames * 1000000 / rate), (unsigned long long)rate,
			 PLURAL(rate), s->room_mapped ? ", if one CPU receives all" : "");
}
