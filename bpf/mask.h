/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mask: makes one module's view. In: the whole view of a frame, and the module's grants. Out: a
 * view with only the fields that the policy shows to this module. Always holds: every byte that the
 * module can reach is written, so no data of an earlier module or frame remains.
 */
#ifndef SALUKI_BPF_MASK_H
#define SALUKI_BPF_MASK_H

#include <saluki/module.h>
#include <saluki/slots.h>

#include "view.h"

#define MASK_FREE 0xffff0000 /* bits of `has` that need no grant */
#define MASK_PAYLOAD_WORDS (MODULE_PAYLOAD_MAX / 8)

/* A group of fields that the frame lacks is all 0 in the whole view. */
#define MASK_GROUP(bit, from, to)                                                                  \
	if (SALUKI_REACHES(reach, from)) {                                                         \
		if (has & (bit)) {                                                                 \
			_Pragma("unroll") for (int i = VIEW_WORD(from); i < (to); i++)             \
				out[i] = in[i];                                                    \
		} else {                                                                           \
			VIEW_ZERO(out, VIEW_WORD(from), to);                                       \
		}                                                                                  \
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

/* Copies the first `n` bytes of the payload: whole steps as far as the module reaches, then the
 * rest. */
static __always_inline void mask_payload(struct frame_view *to, const struct frame_view *from,
					 __u32 n, __u32 reach)
{
	__u64 *out = (__u64 *)to->payload;
	const __u64 *in = (const __u64 *)from->payload;
	__u32 at = n / 8 & (MASK_PAYLOAD_WORDS - VIEW_PAYLOAD_STEP);
	__u32 rest = n & (VIEW_PAYLOAD_STEP * 8 - 1);

#pragma unroll
	for (__u32 i = 0; i < MASK_PAYLOAD_WORDS; i += VIEW_PAYLOAD_STEP) {
		bool all = n >= (i + VIEW_PAYLOAD_STEP) * 8;

		if (reach <= __builtin_offsetof(struct frame_view, payload) + i * 8)
			continue;
#pragma unroll
		for (__u32 k = i; k < i + VIEW_PAYLOAD_STEP; k++)
			out[k] = all ? in[k] : 0;
	}
	if (n >= MODULE_PAYLOAD_MAX)
		return;
#pragma unroll
	for (__u32 k = 0; k < VIEW_PAYLOAD_STEP; k++) {
		__u32 left = rest > k * 8 ? rest - k * 8 : 0;

		if (left)
			out[at + k] = left >= 8 ? in[at + k] : in[at + k] & mask_bytes(left);
	}
}

/* A single module gets the whole view itself, with hidden fields set to 0. The payload in it is
 * already no longer than the module's grant. */
static __always_inline void mask_alone(struct frame_view *v, __u32 shown)
{
	__u32 hidden = v->has & ~shown;

	if (!hidden)
		return;
#define MASK_HIDE(bit, from, to)                                                                   \
	if (hidden & (bit))                                                                        \
		VIEW_ZERO(v, VIEW_WORD(from), to);
	MASK_HIDE(VIEW_MAC, addr, VIEW_WORD(saddr))
	MASK_HIDE(VIEW_IP, saddr, VIEW_WORD(sport))
	MASK_HIDE(VIEW_PORTS, sport, VIEW_WORD(label))
	MASK_HIDE(VIEW_RADIOTAP, mhz, VIEW_WORD(ssid))
	MASK_HIDE(VIEW_SSID, ssid, VIEW_WORDS)
#undef MASK_HIDE
	v->has &= shown | MASK_FREE;
}

/* Copies as far as the module reaches. */
static __always_inline void mask_view(struct frame_view *to, const struct frame_view *from,
				      __u32 shown, __u32 bytes, __u32 reach)
{
	__u64 *out = (__u64 *)to;
	const __u64 *in = (const __u64 *)from;
	__u32 has = from->has & (shown | MASK_FREE);
	__u32 payload = has & VIEW_PAYLOAD ? parse_min(from->payload_seen, bytes) : 0;

	if (!payload)
		has &= ~VIEW_PAYLOAD;
#pragma unroll
	for (int i = 0; i < VIEW_WORD(addr); i++)
		out[i] = in[i];
	to->has = has;
	to->payload_seen = payload;
	MASK_GROUP(VIEW_MAC, addr, VIEW_WORD(saddr))
	MASK_GROUP(VIEW_IP, saddr, VIEW_WORD(sport))
	MASK_GROUP(VIEW_PORTS, sport, VIEW_WORD(label))
	MASK_GROUP(VIEW_LABEL, label, VIEW_WORD(event_len))
	if (SALUKI_REACHES(reach, event_len))
		VIEW_ZERO(to, VIEW_WORD(event_len), VIEW_WORD(payload));
	if (SALUKI_REACHES(reach, payload))
		mask_payload(to, from, payload, reach);
	MASK_GROUP(VIEW_RADIOTAP, mhz, VIEW_WORD(ssid))
	MASK_GROUP(VIEW_SSID, ssid, VIEW_WORDS)
}

#endif
