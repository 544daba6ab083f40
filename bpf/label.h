/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Label: fills the view's payload, SSID and trajectory label. A packet has the same label at every
 * point of its way. In: a frame at the hook. Out: fields of the view.
 */
#ifndef SALUKI_BPF_LABEL_H
#define SALUKI_BPF_LABEL_H

#include "hook.h"
#include "siphash.h"
#include "view.h"

/* Copies the payload's first `most` bytes. Ethernet's padding after the packet is no payload. */
static __always_inline void label_payload(const struct hook *h, struct frame_view *v, __u32 at,
					  __u32 most)
{
	__u32 n = parse_min(v->payload_len, most);

	if (at >= h->len)
		return;
	n = parse_min(n, h->len - at);
	if (!n || hook_load(h, at, v->payload, n, MODULE_PAYLOAD_MAX))
		return;
	v->payload_seen = n;
	v->has |= VIEW_PAYLOAD;
}

static __always_inline void label_ssid(const struct hook *h, struct frame_view *v, __u32 at)
{
	__u32 n = v->ssid_len;

	if (n && hook_load(h, at, v->ssid, n, sizeof(v->ssid))) {
		v->ssid_len = 0; /* it is truncated */
		v->has &= ~VIEW_SSID;
	}
}

#define LABEL_BEHIND 40 /* bytes behind the IP header that are in it, where they are there */

/* The label leaves out transport checksums. If the sender's card computes the checksum, a capture
 * on the sender sees another value than all captures after the card. */
static __always_inline void label_without_checksum(const struct frame_view *v, __u8 *behind)
{
	if (v->ip_fragment & 0x1fff)
		return;
	if (v->ip_protocol == 6)
		behind[16] = behind[17] = 0;
	else if (v->ip_protocol == 17 || v->ip_protocol == 136)
		behind[6] = behind[7] = 0;
	else if (v->ip_protocol == 132)
		behind[8] = behind[9] = behind[10] = behind[11] = 0;
}

/* The label covers source, destination, length, identification, fragment, protocol, and the bytes
 * after IP's headers. It leaves out fields that routers change: TOS, TTL, checksum, IPv4's options
 * (they record routes and times) and IPv6's extension headers. */
static __always_inline void label_fill(const struct hook *h, struct frame_view *v,
				       const struct view_walk *w, const __u64 key[2])
{
	__u64 behind[LABEL_BEHIND / 8] = { 0 };
	const __u64 *from = (const __u64 *)v->saddr, *to = (const __u64 *)v->daddr;
	__u32 end = parse_min(w->network + v->ip_len, h->len), n = 0;
	struct siphash s;

	if (w->behind < end) /* Ethernet's padding is not part of the packet */
		n = parse_min(end - w->behind, LABEL_BEHIND);
	if (n && hook_load(h, w->behind, behind, n, LABEL_BEHIND))
		return;
	label_without_checksum(v, (__u8 *)behind);
	siphash_begin(&s, key);
	siphash_word(&s, from[0]);
	siphash_word(&s, to[0]);
	if (v->ip_version == 6) {
		siphash_word(&s, from[1]);
		siphash_word(&s, to[1]);
	}
	siphash_word(&s, (__u64)v->ip_len << 48 | (__u64)v->ip_id << 32 |
				 (__u64)v->ip_fragment << 16 | v->ip_protocol);
#pragma unroll
	for (int i = 0; i < LABEL_BEHIND / 8; i++)
		siphash_word(&s, behind[i]);
	v->label = siphash_end(&s, 0);
	v->has |= VIEW_LABEL;
}

#endif
