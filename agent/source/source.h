/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A source of frames: one table of operations for the ring that the BPF programs fill and for
 * files. Opened from what the privileged process hands over; used by the capture thread.
 */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <saluki/record.h>

#include "agent/model/handover.h"
#include "clock.h"
#include "wire/combo.h"

struct source;

struct source_frame {
	struct combo_frame frame; /* data is valid until next is called again */
	uint64_t heard_ns; /* CLOCK_MONOTONIC when it was heard: a combo's age counts from it */
	uint64_t taken;	   /* bytes of the ring taken so far, 0 without one */
};

struct source_ops {
	/* Returns 1 with the next frame, 0 where there is none right now, -ENODATA at the end
	 * of a file, -EBADMSG where the file is corrupt (said). */
	int (*next)(struct source *s, struct source_frame *f);
	/* Waits until there may be a frame or `timeout_ms` is over, SOURCE_POLL_MS at most. */
	void (*wait)(struct source *s, int timeout_ms);
	/* The next five are of rings that outlive the agent (`lanes`), NULL for other sources:
	 * their frames take no space there once they are in a combo. */
	/* Marks all that next has given; without the frame it gave last, if that goes into the
	 * next combo (not `with_last`). At most QUEUE_LEN marks are out at a time. */
	uint64_t (*mark)(struct source *s, bool with_last);
	/* Everything in front of a mark is exported: its space may be used again. Called by
	 * the export thread, in the order of the marks. */
	void (*release)(struct source *s, uint64_t mark);
	/* The positions that stand for a mark, `lanes` of them; and not to read beyond such
	 * positions, NULL: no bound. */
	void (*positions)(const struct source *s, uint64_t mark, uint64_t *out);
	void (*limit)(struct source *s, const __u64 *positions);
	/* Whether one of these rings is more than half full of what is not released. The export
	 * thread. */
	bool (*half_full)(const struct source *s);
	/* Nobody is left to detach: nothing is captured or counted that was not when this returns,
	 * or by the next call of next. NULL where there is nothing, or where it stays. Any thread.
	 */
	void (*halt)(struct source *s);
	/* No more than so many bytes of a frame from now on. NULL where the kernel cuts them. Any
	 * thread. */
	void (*snaplen)(struct source *s, uint32_t snaplen);
	/* The first equation of the ledger so far, of one interface. Any thread. */
	void (*counters)(const struct source *s, unsigned int interface,
			 struct saluki_counters *out);
	void (*close)(struct source *s);
};

/* A source with nothing to say is asked again after this, so that an order to stop is seen. */
#define SOURCE_POLL_MS 100

struct source {
	const struct source_ops *ops;
	unsigned int interfaces; /* how many */
	uint32_t lanes;		 /* rings that outlive the agent; 0: none */
	uint64_t room_bytes;	 /* of all rings; 0: there is none */
	uint32_t room_frame;	 /* bytes a frame takes there; 0: what is kept of it */
	bool room_classes;	 /* of that, rounded up to a size class (saluki/record.h) */
	uint32_t room_blocks;	 /* it is in so many, of all rings; 0: it is in one piece */
	uint32_t room_block_ms;	 /* and one that has a frame is used up by then */
};

/* Makes a frame of a record, which stays where it is; `out->taken` is the caller's to set. */
static inline void source_record(struct source_frame *out, const struct saluki_record *rec,
				 struct clock_offset *clock)
{
	clock_measure(clock, rec->time_ns);
	out->heard_ns = rec->time_ns;
	out->frame.time_ns = clock_realtime(clock, rec->time_ns);
	out->frame.orig_len = rec->orig_len;
	out->frame.kept_len = rec->kept_len;
	out->frame.linktype = rec->linktype;
	out->frame.interface = rec->interface;
	out->frame.direction = rec->direction;
	out->frame.data = (const uint8_t *)(rec + 1);
}

/* What a source counts that sees whole frames. One thread counts, any may read. */
struct source_counts {
	struct saluki_counters counters;
	unsigned int changes; /* common/changes.h */
};

/* Counts a frame that the source was offered. */
void source_offered(struct source_counts *c, uint32_t orig_len, bool refused);
void source_counts_read(struct saluki_counters *out, const struct source_counts *c);
/* What is kept of whole frames. */
struct source_keep {
	uint32_t snaplen;
	bool headers, drop_bad_fcs;
};

/* Sets what is kept of a whole frame of `cap_len` bytes at hand, as the BPF programs would have cut
 * it, and counts it as captured. Returns false where it is refused, and counted so.
 * `out->orig_len`, `linktype` and `data` are set. */
bool source_cut(struct source_frame *out, uint32_t cap_len, const struct source_keep *keep,
		struct source_counts *c);

/* All take the descriptors over. They return NULL after a line that says what failed. */
struct source *source_ring_open(const struct handover *h, const int *fds);
struct source *source_file_open(const struct handover *h, const int *fds,
				const struct filter_given *filter);
struct source *source_xsk_open(const struct handover *h, const int *fds);
struct source *source_mmap_open(const struct handover *h, const int *fds);

#endif
