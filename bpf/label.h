/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Label: of a frame's view, what takes its bytes as a whole: the payload, and the label of a
 * packet, which is the same wherever on its way it is seen. In: a frame at the hook. Out: fields of
 * the view.
 */
#ifndef SALUKI_BPF_LABEL_H
#define SALUKI_BPF_LABEL_H

#include "hook.h"
#include "siphash.h"
#include "view.h"

/* The payload's first bytes; behind the end of the packet Ethernet fills frames up. */
static __always_inline void label_payload(const struct hook *h, struct frame_view *v, __u32 at)
{
	__u32 n = v->payload_len;

	if (at >= h->len)
		return;
	n = parse_min(n, parse_min(h->len - at, MODULE_PAYLOAD_MAX));
	if (!n || hook_load(h, at, v->payload, n, MODULE_PAYLOAD_MAX))
		return;
	v->payload_seen = n;
	v->has |= VIEW_PAYLOAD;
}

static __always_inline void label_ssid(const struct hook *h, struct frame_view *v, __u32 at)
{
	__u32 n = v->ssid_len;

	if (n && hook_load(h, at, v->ssid, n, sizeof(v->ssid))) {
		v->ssid_len = 0; /* it is cut */
		v->has &= ~VIEW_SSID;
	}
}

#define LABEL_BEHIND 24 /* bytes behind the IP header that are in it, where they are there */

/* Source, destination, length, identification, fragment and protocol are in it, and what follows
 * the IP header; TTL, TOS and checksum change on the way. */
static __always_inline void label_fill(const struct hook *h, struct frame_view *v, __u32 network,
				       const __u64 key[2])
{
	__u64 behind[LABEL_BEHIND / 8] = { 0 };
	const __u64 *from = (const __u64 *)v->saddr, *to = (const __u64 *)v->daddr;
	__u32 start = v->ip_version == 4 ? 20 : 40, n = 0;
	struct siphash s;

	if (v->ip_len > start && network + start < h->len)
		n = parse_min(parse_min(v->ip_len - start, h->len - network - start), LABEL_BEHIND);
	if (n && hook_load(h, network + start, behind, n, LABEL_BEHIND))
		return;
	siphash_begin(&s, key);
	siphash_word(&s, from[0]);
	siphash_word(&s, to[0]);
	if (v->ip_version == 6) {
		siphash_word(&s, from[1]);
		siphash_word(&s, to[1]);
	}
	siphash_word(&s, (__u64)v->ip_len << 48 | (__u64)v->ip_id << 32 | v->ip_fragment << 16 |
				 v->ip_protocol);
#pragma unroll
	for (int i = 0; i < LABEL_BEHIND / 8; i++)
		siphash_word(&s, behind[i]);
	v->label = siphash_end(&s, 0);
	v->has |= VIEW_LABEL;
}

#endif
