/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What crosses the border between the BPF programs and the agent: ring records, counters and
 * the wake-up word. Host byte order, fixed widths, explicit padding; both sides are compiled
 * from this one file.
 */
#ifndef SALUKI_RECORD_H
#define SALUKI_RECORD_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Bounds of `--snaplen`, in bytes. The upper one is the largest size class of the ring. */
#define SALUKI_SNAPLEN_MIN 1
#define SALUKI_SNAPLEN_MAX 32768
#define SALUKI_SNAPLEN_DEFAULT 192 /* Saluki paper, section III */

/* `saluki_record.direction` */
enum {
	SALUKI_DIRECTION_UNKNOWN = 0,
	SALUKI_DIRECTION_IN = 1,
	SALUKI_DIRECTION_OUT = 2,
};
/* A bit of it that the agent sets: the frame was heard while its radio changed channel, or before
 * it had settled there. */
#define SALUKI_UNSETTLED 0x80

/* What the BPF ring buffer reserves for a frame, behind its header: the first of these sizes that
 * holds what is kept of it. */
#define SALUKI_RING_CLASSES(X)                                                                     \
	X(64)                                                                                      \
	X(128) X(192) X(256) X(512) X(1024) X(2048) X(4096) X(8192) X(16384) X(SALUKI_SNAPLEN_MAX)

/* One captured frame in a ring: this header, then `kept_len` bytes of the frame. In the BPF ring
 * buffer the space reserved is that of the size class, so what follows the kept bytes is rubbish.
 */
struct saluki_record {
	__u64 time_ns;	/* CLOCK_MONOTONIC at the capture hook */
	__u32 orig_len; /* bytes the frame had at the hook, a VLAN tag taken off included */
	__u32 kept_len; /* bytes that follow; at most orig_len and at most the snaplen */
	__u16 linktype; /* LINKTYPE_ value */
	__u8 interface; /* the agent's own number of the interface, from 0 */
	__u8 direction; /* SALUKI_DIRECTION_ */
	__u32 pad;
};
_Static_assert(sizeof(struct saluki_record) == 24, "ring record is ABI between BPF and agent");

/* Not a frame but what a module has said of the one in front of it: a record with this in the place
 * of a LINKTYPE_, and struct saluki_event for its bytes. */
#define SALUKI_LINKTYPE_EVENT 0xffff
#define SALUKI_EVENT_MAX 64
#define SALUKI_EVENT_NAME 32

struct saluki_event {
	char name[SALUKI_EVENT_NAME]; /* of the module */
	__u64 serial;
	__u8 bytes[SALUKI_EVENT_MAX]; /* as many as the record has behind the serial */
};

/* The first equation of the ledger, a slot a CPU:
 *
 *     seen = filtered + ring_full + copy_failed + captured
 *
 * Only the CPU that owns a slot writes it, in softirq or with softirqs off, so the additions
 * need no atomics; a slot has cache lines of its own. */
struct saluki_counters {
	__u64 seen;	   /* frames that reached the hook */
	__u64 filtered;	   /* frames the filter refused, or --bad-fcs drop */
	__u64 ring_full;   /* no space for a record in the ring */
	__u64 copy_failed; /* the kernel would not copy the bytes of a frame */
	__u64 captured;	   /* records in the ring */
	__u64 seen_bytes;  /* bytes of all frames seen */
	__u64 kept_bytes;  /* bytes of frames put into the ring */
	__u64 malformed;   /* captured frames with a header that lies: kept up to that header */
	__u64 bad_fcs;	   /* frames the filter takes whose radiotap header says that their FCS was
			      wrong; they are in another counter too */
	/* No counts, but what modules have to know of the present frame: */
	__u64 time_ns;	 /* its stamp; 0: it has none */
	__u32 consume;	 /* whether it is taken off its way */
	__u32 direction; /* SALUKI_DIRECTION_ */
	__u64 pad[5];
};
_Static_assert(sizeof(struct saluki_counters) == 128, "one counter slot is two cache lines");

/* The mapped ring (`--ring mapped`): a ring a CPU, each an element of a mapped array: this header,
 * `size` bytes (a power of two), and room for one record more, so that a record never wraps: one
 * that begins before the end runs on into that room, and the next begins at the start again.
 * Records are struct saluki_record and its bytes, filled up to 8. Positions only grow; an offset is
 * a position modulo `size`. One producer, one consumer: `head` is written by the CPU that owns the
 * ring, `tail` and `wake_at` by the consumer, each on a cache line of its own. */
struct saluki_mapped {
	__u64 head; /* records in front of it are complete */
	__u64 busy; /* a record is being written: whatever interrupts it stays away */
	__u64 pad1[6];
	__u64 tail;    /* space in front of it is free */
	__u64 wake_at; /* head at which the sleeping consumer is woken; ~0: it does not sleep */
	__u64 pad2[6];
	__u8 data[];
};
_Static_assert(sizeof(struct saluki_mapped) == 128, "producer's line, consumer's line");

/* Header, the largest record behind the last offset, and what fills the last page. */
#define SALUKI_MAPPED_EXTRA 36864

/* Returns the position behind a record of `kept_len` bytes at `position`. */
static inline __attribute__((always_inline)) __u64 saluki_mapped_next(__u64 position,
								      __u32 kept_len, __u64 size)
{
	__u64 len = sizeof(struct saluki_record) + ((kept_len + 7) & ~7U);

	if ((position & (size - 1)) + len >= size)
		return (position | (size - 1)) + 1;
	return position + len;
}

/* One page shared with the consumer of the ring. The program wakes the consumer when the
 * ring's producer position reaches `wake_at`; a running consumer keeps it at ~0. */
struct saluki_wakeup {
	__u64 wake_at; /* ring position in bytes */
};

/* ---- what outlives an agent ------------------------------------------------------------------ */

/* Rings, counters and programs are pinned and outlive the agent that made them. The next one, maybe
 * of another version, takes them over where this number is the same: it rises with every change of
 * a struct in this file, or of what its fields mean. */
#define SALUKI_LAYOUT 5

/* What the programs on one interface are: pinned as `config`. */
struct saluki_config {
	__u32 layout;	  /* SALUKI_LAYOUT; first in every version */
	char version[16]; /* of the program that attached */
	char interface[16];
	char source[16]; /* "xdp native", "xdp generic", "tc"; "" while they are not attached */
	__u32 ifindex;
	__u32 linktype;	    /* LINKTYPE_ */
	__u32 snaplen;	    /* bytes */
	__u32 snaplen_max;  /* of frames that may be in the ring */
	__u32 keep;	    /* as asked for: 0 by link type, 1 headers, 2 all */
	__u32 keep_headers; /* as decided */
	__u32 choice;	    /* of source, as asked for: 0 auto, 1 xdp, 2 tc */
	__u32 direction;    /* 0 in, 1 out, 2 both */
	__u32 consume;
	__u32 number; /* saluki_record.interface, and how many share the ring */
	__u32 count;
	__u32 ring_size;  /* bytes; of each CPU's where it is mapped */
	__u32 mapped;	  /* CPUs with a mapped ring; 0: the BPF ring buffer */
	__u32 cpus;	  /* slots of counters */
	__u32 persistent; /* made by `saluki attach`: stays when an agent ends */
	__u32 filter;	  /* a hash of its code; 0 without one */
	__u32 netns;	  /* inode of the network namespace that the interface is in */
	__u64 group;	  /* random; the same for all that share the ring */
	__u32 bad_fcs;	  /* as asked for: 0 by default, 1 keep, 2 drop */
	__u32 pad;
};
_Static_assert(sizeof(struct saluki_config) == 136, "config is ABI between agents");

/* The filter that the programs on an interface were loaded with: pinned as `filter`. Classic BPF,
 * as struct sock_filter of linux/filter.h. */
struct saluki_filter {
	__u32 len;     /* instructions; 0: everything is captured */
	__u32 is_code; /* given as code, so `text` is no expression */
	char text[1024];
	struct saluki_filter_instruction {
		__u16 code;
		__u8 jt, jf;
		__u32 k;
	} code[8192];
};

/* How far the ring has been exported: counts since the run began. */
struct saluki_exported {
	__u64 next;					/* number of the next combo */
	__u64 exported, dropped_send, dropped_shutdown; /* frames */
	__u64 combos, datagrams, body_bytes, sent_bytes;
};

/* The export of a ring, so that the agent that follows a killed one neither loses a frame nor sends
 * one as another: pinned as `journal`, written by the agent alone (agent/rings/journal.h says in
 * which order). */
enum {
	SALUKI_JOURNAL_IDLE = 0,    /* all up to the ring's tail is exported: done[slot] */
	SALUKI_JOURNAL_PENDING = 2, /* a combo may have been sent: the frames from tail to `ends` */
	SALUKI_JOURNAL_RELEASE = 4, /* it is in done[slot]; the tail goes to `ends` */
	SALUKI_JOURNAL_SLOT = 1,    /* bit: which of `done` is true */
};

#define SALUKI_JOURNAL_ENDS 493

struct saluki_journal {
	__u64 run;   /* random name of the run; 0: none has begun */
	__u64 state; /* SALUKI_JOURNAL_, stored at once */
	struct saluki_exported done[2];
	__u64 frames; /* in the pending combo */
	/* Positions: of the ring buffer, or of each CPU's mapped ring; of more CPUs, more. */
	__u64 ends[SALUKI_JOURNAL_ENDS];
};
_Static_assert(sizeof(struct saluki_journal) == 4096, "a page, which a mapped array takes anyway");

#endif
