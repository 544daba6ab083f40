/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Record: the data that BPF programs and agent share: ring records, counters and the wake-up word.
 * Host byte order, fixed widths, explicit padding. Both sides are compiled from this file.
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
/* A bit of `direction` that the agent sets: the frame came while its radio changed the channel, or
 * before it had settled. */
#define SALUKI_UNSETTLED 0x80

/* Size classes: the BPF ring buffer reserves the header and the smallest of these that holds the
 * kept bytes. */
#define SALUKI_RING_CLASSES(X)                                                                     \
	X(64)                                                                                      \
	X(128) X(192) X(256) X(512) X(1024) X(2048) X(4096) X(8192) X(16384) X(SALUKI_SNAPLEN_MAX)

/* One captured frame in a ring: this header, then `kept_len` bytes of the frame. In the BPF ring
 * buffer, the rest of the size class after the kept bytes is undefined.
 */
struct saluki_record {
	__u64 time_ns;	/* CLOCK_MONOTONIC at the capture hook */
	__u32 orig_len; /* frame length at the hook in bytes, with a VLAN tag that was removed */
	__u32 kept_len; /* bytes that follow; at most orig_len and at most the snaplen */
	__u16 linktype; /* LINKTYPE_ value */
	__u8 interface; /* the agent's own number of the interface, from 0 */
	__u8 direction; /* SALUKI_DIRECTION_ */
	__u32 pad;
};
_Static_assert(sizeof(struct saluki_record) == 24, "ring record is ABI between BPF and agent");

/* A module's event about the frame before it: a record with this value instead of a LINKTYPE_, and
 * struct saluki_event for its bytes. */
#define SALUKI_LINKTYPE_EVENT 0xffff
#define SALUKI_EVENT_MAX 64
#define SALUKI_EVENT_NAME 32

struct saluki_event {
	char name[SALUKI_EVENT_NAME]; /* of the module */
	__u64 serial;
	__u8 bytes[SALUKI_EVENT_MAX]; /* the record's bytes after the serial */
};

/* The first equation of the ledger, one slot per CPU:
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
	__u64 malformed;   /* captured frames with a malformed header, where they are cut */
	__u64 bad_fcs;	   /* frames the filter takes whose radiotap header says that their FCS was
			      wrong; they are in another counter too */
	/* Not counters: the current frame, for modules: */
	__u64 time_ns;	 /* its time stamp; 0: none */
	__u32 consume;	 /* whether it is consumed */
	__u32 direction; /* SALUKI_DIRECTION_ */
	__u64 pad[5];
};
_Static_assert(sizeof(struct saluki_counters) == 128, "one counter slot is two cache lines");

/* The mapped ring: one ring per CPU, each an element of a mapped array. It has
 * this header, `size` bytes (a power of two), and room for one more record. So a record never
 * wraps: it may run on past the end, and the next one begins at the start. A record is struct
 * saluki_record and its bytes, padded to 8. Positions only grow; an offset is a position modulo
 * `size`. One producer, one consumer: the ring's CPU writes `head`, the consumer writes `tail` and
 * `wake_at`, on separate cache lines. */
struct saluki_mapped {
	__u64 head; /* records before it are complete */
	__u64 busy; /* a record is being written: an interrupt must not write */
	__u64 pad1[6];
	__u64 tail;    /* space before it is free */
	__u64 wake_at; /* head at which the sleeping consumer is woken; ~0: it does not sleep */
	__u64 pad2[6];
	__u8 data[];
};
_Static_assert(sizeof(struct saluki_mapped) == 128, "producer's line, consumer's line");

/* Header, the largest record after the last offset, and padding to a page. */
#define SALUKI_MAPPED_EXTRA 36864

/* Returns the position after a record of `kept_len` bytes at `position`. */
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

/* Rings, counters and programs are pinned and outlive their agent. The next agent, maybe of another
 * version, adopts them if this number is equal. It rises with every change of a struct in this
 * file, or of a field's meaning. */
#define SALUKI_LAYOUT 5

/* Describes the programs on one interface: pinned as `config`. */
struct saluki_config {
	__u32 layout;	  /* SALUKI_LAYOUT; first in every version */
	char version[16]; /* of the program that attached */
	char interface[16];
	char source[16]; /* "xdp native", "xdp generic", "tc"; "" while they are not attached */
	__u32 ifindex;
	__u32 linktype;	    /* LINKTYPE_ */
	__u32 snaplen;	    /* bytes */
	__u32 snaplen_max;  /* largest for frames in the ring */
	__u32 keep;	    /* as requested: 0 by link type, 1 headers, 2 all */
	__u32 keep_headers; /* as decided */
	__u32 choice;	    /* requested source: 0 auto, 1 xdp, 2 tc */
	__u32 direction;    /* 0 in, 1 out, 2 both */
	__u32 consume;
	__u32 number; /* saluki_record.interface, and how many share the ring */
	__u32 count;
	__u32 ring_size;  /* bytes; of each CPU's where it is mapped */
	__u32 mapped;	  /* CPUs with a mapped ring; 0: the BPF ring buffer */
	__u32 cpus;	  /* slots of counters */
	__u32 persistent; /* from `saluki attach`: stays when an agent ends */
	__u32 filter;	  /* a hash of its code; 0 without one */
	__u32 netns;	  /* inode of the network namespace that the interface is in */
	__u64 group;	  /* random; the same for all that share the ring */
	__u32 bad_fcs;	  /* as requested: 0 default, 1 keep, 2 drop */
	__u32 pad;
};
_Static_assert(sizeof(struct saluki_config) == 136, "config is ABI between agents");

/* The filter of the programs on an interface: pinned as `filter`. Classic BPF, as struct
 * sock_filter of linux/filter.h. */
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

/* The progress of the export, counted since the run began. */
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
	/* Positions: of the ring buffer, or of each CPU's mapped ring; longer with more CPUs. */
	__u64 ends[SALUKI_JOURNAL_ENDS];
};
_Static_assert(sizeof(struct saluki_journal) == 4096, "a page, which a mapped array takes anyway");

#endif
