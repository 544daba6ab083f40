/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: what the program that runs modules (bpf/modules.bpf.c) and the agent have in common.
 * Host byte order, fixed widths, explicit padding, as saluki/record.h.
 */
#ifndef SALUKI_SLOTS_H
#define SALUKI_SLOTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "record.h"

#define SALUKI_MODULES_MAX 8

/* Places in the table of programs: that which runs modules, then the modules themselves. */
#define SALUKI_SLOT_RUN 0
#define SALUKI_SLOT_FIRST 1
#define SALUKI_SLOTS (SALUKI_SLOT_FIRST + SALUKI_MODULES_MAX)

/* One module's place: what it is shown, and when it is left out. */
struct saluki_slot {
	__u32 used;    /* there is a module here, */
	__u32 sheds;   /* and it may be left out */
	__u32 shown;   /* VIEW_ bits, saluki/module.h; */
	__u32 hashed;  /* of these, those that are shown as a keyed hash, */
	__u32 prefix;  /* and those whose prefixes stay prefixes */
	__u32 payload; /* bytes of it that are shown */
	__u32 events;  /* a second */
	__u16 priority;
	__u16 kernel_proof; /* the kernel itself has proved it: agent/module/proof.h */
	__u64 shed_at;	    /* with more bytes than that in the ring it is left out, */
	__u64 back_at;	    /* until there are no more than that */
	/* For who asks; the name and the serial are in its events, too. */
	char name[SALUKI_EVENT_NAME];
	__u64 serial;
	__u8 hash[32];	    /* of its object */
	__u64 loaded_ns;    /* since 1970 */
	__u64 map_memory;   /* bytes */
	__u32 instructions; /* that the verifier went through; 0: not known */
	__u32 reach;	    /* bytes of its view that it can read or write at most */
};

/* Whether a module of such a reach gets to a field of struct frame_view. */
#define SALUKI_REACHES(reach, field) ((reach) > __builtin_offsetof(struct frame_view, field))

/* Constants of the program that runs modules: another table takes another program, and a frame sees
 * one or the other. */
struct saluki_slot_table {
	struct saluki_slot slots[SALUKI_MODULES_MAX];
	__u64 anonymise[2]; /* keys: modules never see them */
	__u64 trajectory[2];
	__u32 modules; /* how many there are */
	__u32 wanted;  /* VIEW_ bits that any of them is shown, */
	__u32 payload; /* and bytes of the payload */
	__u32 sheds;   /* any of them may be left out */
	__u32 reach;   /* the farthest */
	__u32 pad;
};

/* What became of it, a slot of each CPU. Only that CPU writes it. */
struct saluki_slot_counters {
	__u64 frames;  /* it has seen */
	__u64 skipped; /* it was left out, for the ring was filling */
	__u64 missing; /* there was no program in its place, or the kernel refused the call */
	__u64 events;  /* in the ring */
	__u64 events_limited; /* dropped: more than are granted a second */
	__u64 events_lost;    /* dropped: the ring was full */
	__u64 timed, time_ns; /* frames whose run was measured, one in 64, and the sum */
	__u64 shed;	      /* it is left out at present: no count */
	__u64 events_unread;  /* dropped: the consumer's ring was full */
	/* No counts: how far the ring was read when that was last seen to change, and when. */
	__u64 read_up_to, read_ns;
	/* Of the first slot: bytes in the ring, and the frames that were asked for it. */
	__u64 fill, asked;
	__u64 pad[2];
};
_Static_assert(sizeof(struct saluki_slot_counters) == 128, "two cache lines");

/* Of all CPUs together: the present second, and events in it, of the module that was loaded then.
 */
struct saluki_slot_limit {
	__u64 second, events, loaded_ns;
};

#endif
