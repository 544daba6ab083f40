/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the data that the agent and the program that runs modules (bpf/modules.bpf.c) share. Host
 * byte order, fixed widths, explicit padding, as saluki/record.h.
 */
#ifndef SALUKI_SLOTS_H
#define SALUKI_SLOTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "record.h"

#define SALUKI_MODULES_MAX 8

/* Indexes in the table of programs: first the program that runs modules, then the modules. */
#define SALUKI_SLOT_RUN 0
#define SALUKI_SLOT_FIRST 1
#define SALUKI_SLOTS (SALUKI_SLOT_FIRST + SALUKI_MODULES_MAX)

/* One module's slot: its grants, and when it is skipped. */
struct saluki_slot {
	__u32 used;    /* the slot has a module, */
	__u32 sheds;   /* which may be skipped */
	__u32 shown;   /* VIEW_ bits, saluki/module.h; */
	__u32 hashed;  /* of these, shown as keyed hashes, */
	__u32 prefix;  /* or with pseudonyms that keep prefixes */
	__u32 payload; /* bytes of payload shown */
	__u32 events;  /* a second */
	__u16 priority;
	__u16 kernel_proof; /* the kernel's verifier proved it: agent/module/proof.h */
	__u64 shed_at;	    /* skipped when the ring has more bytes than this, */
	__u64 back_at;	    /* until it has no more than this */
	/* For listings. Events have the name and the serial too. */
	char name[SALUKI_EVENT_NAME];
	__u64 serial;
	__u8 hash[32];	    /* of its object */
	__u64 loaded_ns;    /* since 1970 */
	__u64 map_memory;   /* bytes */
	__u32 instructions; /* processed by the verifier; 0: not known */
	__u32 reach;	    /* the part of its view that it can access, in bytes */
};

/* Whether a module with this reach can access a field of struct frame_view. */
#define SALUKI_REACHES(reach, field) ((reach) > __builtin_offsetof(struct frame_view, field))

/* Constants of the program that runs modules. A new table needs a new program, and each frame meets
 * one of the two. */
struct saluki_slot_table {
	struct saluki_slot slots[SALUKI_MODULES_MAX];
	__u64 anonymise[2]; /* keys: modules never see them */
	__u64 trajectory[2];
	__u32 modules; /* how many there are */
	__u32 wanted;  /* VIEW_ bits that at least one sees, */
	__u32 payload; /* and the most bytes of payload */
	__u32 sheds;   /* at least one may be skipped */
	__u32 reach;   /* the farthest */
	__u32 pad;
};

/* A module's counters, one entry per CPU. Only that CPU writes it. */
struct saluki_slot_counters {
	__u64 frames;	      /* frames it has seen */
	__u64 skipped;	      /* frames it did not see, as the ring was filling */
	__u64 missing;	      /* frames without its program, or the kernel refused the call */
	__u64 events;	      /* in the ring */
	__u64 events_limited; /* dropped: above the granted rate */
	__u64 events_lost;    /* dropped: the ring was full */
	__u64 timed, time_ns; /* frames whose run was measured, one in 64, and the sum */
	__u64 shed;	      /* it is being skipped: not a counter */
	__u64 events_unread;  /* dropped: the consumer's ring was full */
	/* Not counters: the last change of the ring's read position, and its time. */
	__u64 read_up_to, read_ns;
	/* In the first slot: bytes in the ring, and how often they were asked for. */
	__u64 fill, asked;
	__u64 pad[2];
};
_Static_assert(sizeof(struct saluki_slot_counters) == 128, "two cache lines");

/* For all CPUs together: the current second, its events, and the module's load time.
 */
struct saluki_slot_limit {
	__u64 second, events, loaded_ns;
};

#endif
