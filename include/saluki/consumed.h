/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consumed: the input of a module's consumer on the sensor (saluki/consumer.h reads it): the format
 * of events in its ring, and its environment variables. Host byte order, fixed widths, explicit
 * padding.
 */
#ifndef SALUKI_CONSUMED_H
#define SALUKI_CONSUMED_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "module.h"

/* The module's name; "FD:BYTES:FD": its ring of events, the ring's size, and a descriptor whose
 * read(2) returns 0 when no more events come; "NAME:FD NAME:FD ...": its maps. */
#define SALUKI_ENV_MODULE "SALUKI_MODULE"
#define SALUKI_ENV_EVENTS "SALUKI_EVENTS"
#define SALUKI_ENV_MAPS "SALUKI_MAPS"

/* One event, in a BPF ring buffer. */
struct saluki_consumed {
	__u64 time_ns;	/* of the frame, CLOCK_MONOTONIC */
	__u64 serial;	/* the module's serial */
	__u32 len;	/* bytes of the event */
	__u8 direction; /* of the frame: 1 in, 2 out */
	__u8 pad[3];
	__u8 bytes[MODULE_EVENT_MAX];
};
_Static_assert(sizeof(struct saluki_consumed) == 88,
	       "an event is ABI between capture and consumer");

#endif
