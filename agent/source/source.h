/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source: one table of operations for all sources of frames: rings, sockets and files. Opened with
 * descriptors from the privileged process; used by the capture thread.
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
	struct combo_frame frame; /* data is valid until next is called again; in rings that
				   * outlive the agent, until its release */
	uint64_t heard_ns;	  /* CLOCK_MONOTONIC of the frame: a combo's age counts from it */
	uint64_t taken;		  /* bytes taken from the ring so far, 0 without a ring */
};

struct source_ops {
	/* Returns 1 with the next frame, 0 if there is none now, -ENODATA at the end of a file,
	 * -EBADMSG after a line if the file is corrupt. */
	int (*next)(struct source *s, struct source_frame *f);
	/* Returns a lower bound of the stamps (ns since 1970) of frames that the source has and
	 * next cannot return yet; UINT64_MAX: it has none. NULL: next returns all frames. */
	uint64_t (*withheld)(const struct source *s);
	/* Waits for a frame, at most `timeout_ms` and SOURCE_POLL_MS. */
	void (*wait)(struct source *s, int timeout_ms);
	/* The next five are for rings that outlive the agent (`lanes`). Other sources have NULL:
	 * their frames need no ring space once they are in a combo. A mark is `lanes` positions. */
	/* Marks the end of the frames that next has returned. Unless `with_last`, excludes the last
	 * one, which goes into the next combo. */
	void (*mark)(struct source *s, bool with_last, __u64 *mark);
	/* Moves a mark past a frame whose data is still in the ring. In the order of frames; any
	 * thread. */
	void (*pass)(const struct source *s, __u64 *mark, const struct combo_frame *f);
	/* Releases the space before a mark, after its export. Called by the export thread, in the
	 * order of the marks. */
	void (*release)(struct source *s, const __u64 *mark);
	/* Limits reading to a mark; NULL: no limit. */
	void (*limit)(struct source *s, const __u64 *mark);
	/* Returns the part of the fullest ring that unreleased frames take, in 1/256. Any
	 * thread. */
	uint32_t (*filled)(const struct source *s);
	/* Stops the capture when no process is left to detach: after this call, or the next call of
	 * next, nothing more is captured or counted. NULL if not needed, or if the capture is
	 * persistent. Any thread.
	 */
	void (*halt)(struct source *s);
	/* Changes the snaplen. NULL if the kernel truncates. Any thread. */
	void (*snaplen)(struct source *s, uint32_t snaplen);
	/* Adds up the first equation of the ledger for one interface. Any thread. */
	void (*counters)(const struct source *s, unsigned int interface,
			 struct saluki_counters *out);
	void (*close)(struct source *s);
};

/* A frame can be returned after frames with later stamps, or be stamped and in no ring yet, but no
 * longer than this. A virtual CPU may pause in between. */
#define SOURCE_LATE_NS 100000000ULL

/* A source without frames is polled at this interval, so that the thread sees a stop. */
#define SOURCE_POLL_MS 100

struct source {
	const struct source_ops *ops;
	unsigned int interfaces;    /* their number */
	struct clock_offset *clock; /* that stamps its frames; NULL: a file's own stamps */
	uint32_t lanes;		    /* rings that outlive the agent; 0: none */
	uint64_t room_bytes;	    /* of all rings, or of one mapped ring; 0: no ring */
	uint32_t room_frame;	    /* bytes per frame there; 0: a record (saluki/record.h) */
	bool room_mapped;	    /* each CPU has a mapped ring */
	uint32_t room_blocks;	    /* blocks of all rings; 0: not in blocks */
	uint32_t room_block_ms;	    /* after this a block with any frame is used up */
};

/* Makes a frame of a record, without copying. The caller sets `out->taken`. */
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

/* Returns the record of a frame made by source_record. */
static inline const struct saluki_record *source_record_of(const struct combo_frame *f)
{
	return (const struct saluki_record *)f->data - 1;
}

/* Counters of a source that sees whole frames. One thread writes, any may read. */
struct source_counts {
	struct saluki_counters counters;
	unsigned int changes; /* common/changes.h */
};

/* Counts a frame that the source saw. */
void source_offered(struct source_counts *c, uint32_t orig_len, bool refused);
void source_counts_read(struct saluki_counters *out, const struct source_counts *c);
/* How whole frames are trimmed. */
struct source_keep {
	uint32_t snaplen;
	bool headers, drop_bad_fcs;
};

/* Trims a whole frame of `cap_len` bytes as the BPF programs would, and counts it as captured.
 * Returns false if the frame is refused, and counts it so. `out->orig_len`, `linktype` and `data`
 * are set by the caller. */
bool source_cut(struct source_frame *out, uint32_t cap_len, const struct source_keep *keep,
		struct source_counts *c);

/* All take over the descriptors, and return NULL after a line on errors. */
struct source *source_ring_open(const struct handover *h, const int *fds);
struct source *source_file_open(const struct handover *h, const int *fds,
				const struct filter_given *filter);
struct source *source_xsk_open(const struct handover *h, const int *fds);
struct source *source_mmap_open(const struct handover *h, const int *fds);

#endif
