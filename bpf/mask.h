/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mask: what one module is shown. In: the whole view of a frame, and the module's place in the
 * table. Out: a view with nothing in it that its policy does not show. Always holds: every byte of
 * the view is written anew, so that nothing of an earlier module's, or of an earlier frame, is left
 * in it.
 */
#ifndef SALUKI_BPF_MASK_H
#define SALUKI_BPF_MASK_H

#include <saluki/module.h>
#include <saluki/slots.h>

#include "view.h"

#define MASK_OPEN VIEW_WORD(mhz) /* in front of it all is shown */
#define MASK_PAYLOAD_WORDS (MODULE_PAYLOAD_MAX / 8)

#define MASK_GROUP(bit, from, to)                                                                  \
	if (shown & (bit)) {                                                                       \
		_Pragma("unroll") for (int i = (from); i < (to); i++) out[i] = in[i];              \
	} else {                                                                                   \
		_Pragma("unroll") for (int i = (from); i < (to); i++) out[i] = 0;                  \
	}

/* The first `n` bytes of a word, 1 to 7, as it lies in memory. */
static __always_inline __u64 mask_bytes(__u32 n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (1ULL << n * 8) - 1;
#else
	return ~0ULL << (64 - n * 8);
#endif
}

/* The first `shown` bytes of the payload. */
static __always_inline void mask_payload(struct frame_view *to, const struct frame_view *from,
					 __u32 shown)
{
	__u64 *out = (__u64 *)to->payload;
	const __u64 *in = (const __u64 *)from->payload;

	if (shown < to->payload_seen)
		to->payload_seen = shown;
#pragma unroll
	for (__u32 i = 0; i < MASK_PAYLOAD_WORDS; i++) {
		__u32 left = shown > i * 8 ? shown - i * 8 : 0;

		out[i] = left >= 8 ? in[i] : left ? in[i] & mask_bytes(left) : 0;
	}
}

/* A module that is the only one looks at the whole view itself: what it is not shown is taken out
 * of it. What was never filled in stays as it is; nobody but the module writes there. */
static __always_inline void mask_alone(struct frame_view *v, const struct saluki_slot *s)
{
	__u64 *out = (__u64 *)v;
	__u32 hidden = v->has & ~s->shown;

#define MASK_HIDE(bit, from, to)                                                                   \
	if (hidden & (bit)) {                                                                      \
		_Pragma("unroll") for (int i = (from); i < (to); i++) out[i] = 0;                  \
	}
	MASK_HIDE(VIEW_RADIOTAP, VIEW_WORD(mhz), VIEW_WORD(addr))
	MASK_HIDE(VIEW_MAC, VIEW_WORD(addr), VIEW_WORD(ssid))
	MASK_HIDE(VIEW_SSID, VIEW_WORD(ssid), VIEW_WORD(saddr))
	MASK_HIDE(VIEW_IP, VIEW_WORD(saddr), VIEW_WORD(sport))
	MASK_HIDE(VIEW_PORTS, VIEW_WORD(sport), VIEW_WORD(label))
#undef MASK_HIDE
	/* Label and payload are filled in for who is shown them. */
	v->has &= s->shown | 0xffff0000;
	if (v->has & VIEW_PAYLOAD && v->payload_seen > s->payload)
		mask_payload(v, v, s->payload);
	v->event_len = 0;
}

static __always_inline void mask_view(struct frame_view *to, const struct frame_view *from,
				      const struct saluki_slot *s)
{
	__u64 *out = (__u64 *)to;
	const __u64 *in = (const __u64 *)from;
	__u32 shown = s->shown;

#pragma unroll
	for (int i = 0; i < MASK_OPEN; i++)
		out[i] = in[i];
	MASK_GROUP(VIEW_RADIOTAP, VIEW_WORD(mhz), VIEW_WORD(addr))
	MASK_GROUP(VIEW_MAC, VIEW_WORD(addr), VIEW_WORD(ssid))
	MASK_GROUP(VIEW_SSID, VIEW_WORD(ssid), VIEW_WORD(saddr))
	MASK_GROUP(VIEW_IP, VIEW_WORD(saddr), VIEW_WORD(sport))
	MASK_GROUP(VIEW_PORTS, VIEW_WORD(sport), VIEW_WORD(label))
	MASK_GROUP(VIEW_LABEL, VIEW_WORD(label), VIEW_WORD(payload))
	to->has &= shown | 0xffff0000;
	if (shown & VIEW_PAYLOAD) {
		mask_payload(to, from, s->payload);
	} else {
		to->payload_seen = 0;
		__builtin_memset(to->payload, 0, sizeof(to->payload));
	}
	to->event_len = 0;
	__builtin_memset(to->event, 0, sizeof(to->event));
}

#endif
