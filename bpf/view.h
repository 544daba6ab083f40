/* SPDX-License-Identifier: GPL-2.0 */
/*
 * View: fills the fields that modules can see (saluki/module.h). In: a frame of a known link type.
 * Out: all fields, unmasked; mask.h makes each module's view. Like parse.h, compiled for BPF and
 * for the host; the same sources.
 *
 * Always holds: a field comes from bytes of the frame, or is 0. A malformed header ends the walk.
 */
#ifndef SALUKI_BPF_VIEW_H
#define SALUKI_BPF_VIEW_H

#include <saluki/module.h>
#include <saluki/slots.h>

#include "parse.h"
#include "view_radiotap.h"

/* Word indexes of groups in struct frame_view. Groups are whole words. */
#define VIEW_WORD(field) ((int)__builtin_offsetof(struct frame_view, field) / 8)
#define VIEW_WORDS ((int)sizeof(struct frame_view) / 8)
#define VIEW_PAYLOAD_STEP 4 /* words of the payload, of which it is the whole */

#define VIEW_TAGS_MAX 4	      /* VLAN tags followed, and as many MPLS labels */
#define VIEW_EXTENSIONS_MAX 6 /* IPv6 extension headers followed */

/* The state of the walk through the headers. */
struct view_walk {
	struct frame_view *v;
	struct frame *f;
	unsigned int off;     /* offset of the next header */
	unsigned int payload; /* offset of the payload; 0: none */
	unsigned int network; /* offset of the IP header; 0: none */
	unsigned int behind;  /* offset after IP's headers; for later fragments of IPv6, of the
			       * fragment header */
	unsigned int ssid;    /* offset of the SSID; 0: none */
	unsigned int hidden;  /* VIEW_ groups that no module sees: their addresses stay 0 */
};

/* Copies `n` bytes in the largest possible words. `n` is even. */
parse_inline void view_copy(unsigned char *to, const unsigned char *from, unsigned int n)
{
	unsigned int i = 0;

#ifdef PARSE_WIDE
	for (; i + 8 <= n; i += 8)
		*(parse_u64 *)(to + i) = *(const parse_u64 *)(from + i);
	for (; i + 4 <= n; i += 4)
		*(parse_u32 *)(to + i) = *(const parse_u32 *)(from + i);
	for (; i + 2 <= n; i += 2)
		*(parse_u16 *)(to + i) = *(const parse_u16 *)(from + i);
#endif
	for (; i < n; i++)
		to[i] = from[i];
}

/* ---- transport ------------------------------------------------------------------------------- */

parse_inline void view_ports(struct view_walk *w, const unsigned char *p)
{
	if (w->hidden & VIEW_PORTS)
		return;
	w->v->has |= VIEW_PORTS;
	w->v->sport = parse_be16(p);
	w->v->dport = parse_be16(p + 2);
}

parse_inline void view_tcp(struct view_walk *w)
{
	struct frame_view *v = w->v;
	const unsigned char *p = frame_at(w->f, w->off, 20);
	unsigned int len;

	if (!p)
		return;
	v->has |= VIEW_TCP;
	view_ports(w, p);
	v->tcp_seq = parse_be32(p + 4);
	v->tcp_ack = parse_be32(p + 8);
	v->tcp_flags = p[13];
	v->tcp_window = parse_be16(p + 14);
	len = (p[12] >> 4) * 4;
	if (len >= 20)
		w->payload = w->off + len;
}

/* Transport headers that begin with the ports. */
parse_inline void view_datagram(struct view_walk *w, unsigned int len)
{
	const unsigned char *p = frame_at(w->f, w->off, 8);

	if (!p)
		return;
	view_ports(w, p);
	w->payload = w->off + len;
}

parse_inline void view_icmp(struct view_walk *w)
{
	const unsigned char *p = frame_at(w->f, w->off, 8);

	if (!p)
		return;
	w->v->has |= VIEW_ICMP;
	w->v->icmp_type = p[0];
	w->v->icmp_code = p[1];
	w->payload = w->off + 8;
}

/* `end`: where the packet ends, by its IP header. */
parse_inline void view_transport(struct view_walk *w, unsigned int end)
{
	struct frame_view *v = w->v;

	switch (v->ip_protocol) {
	case 6:
		view_tcp(w);
		break;
	case 17:  /* UDP */
	case 136: /* UDP-Lite */
		view_datagram(w, 8);
		break;
	case 132: /* SCTP: the common header */
		view_datagram(w, 12);
		break;
	case 1:
	case 58: /* ICMPv6 */
		view_icmp(w);
		break;
	}
	if (!w->payload)
		return;
	v->has |= VIEW_TRANSPORT;
	v->payload_len = end > w->payload ? end - w->payload : 0;
}

/* ---- network --------------------------------------------------------------------------------- */

parse_inline void view_ipv4(struct view_walk *w)
{
	struct frame_view *v = w->v;
	const unsigned char *p = frame_at(w->f, w->off, 20);
	unsigned int len;

	if (!p || (p[0] >> 4) != 4)
		return;
	len = (p[0] & 15) * 4;
	if (len < 20)
		return;
	v->has |= VIEW_NETWORK;
	w->network = w->off;
	v->ip_version = 4;
	v->tos = p[1];
	v->ip_len = parse_be16(p + 2);
	v->ip_id = parse_be16(p + 4);
	v->ip_fragment = parse_be16(p + 6);
	v->ttl = p[8];
	v->ip_protocol = p[9];
	if (!(w->hidden & VIEW_IP)) {
		v->has |= VIEW_IP;
		view_copy(v->saddr, p + 12, 4);
		view_copy(v->daddr, p + 16, 4);
	}
	w->off = w->behind = parse_joint(w->off + len, PARSE_OFFSET_MASK);
	if (v->ip_fragment & 0x1fff)
		return; /* not the first fragment: no transport header */
	view_transport(w, w->network + v->ip_len);
}

parse_inline int view_is_extension(unsigned int proto)
{
	return proto == 0 || proto == 43 || proto == 44 || proto == 60 || proto == 135 ||
	       proto == 139 || proto == 140;
}

parse_inline void view_ipv6(struct view_walk *w)
{
	struct frame_view *v = w->v;
	const unsigned char *p = frame_at(w->f, w->off, 40);
	unsigned int proto;

	if (!p || (p[0] >> 4) != 6)
		return;
	v->has |= VIEW_NETWORK;
	w->network = w->off;
	v->ip_version = 6;
	v->tos = parse_be16(p) >> 4;
	v->ip_len = parse_be16(p + 4) + 40;
	v->ttl = p[7];
	if (!(w->hidden & VIEW_IP)) {
		v->has |= VIEW_IP;
		view_copy(v->saddr, p + 8, 16);
		view_copy(v->daddr, p + 24, 16);
	}
	proto = p[6];
	w->off = w->behind = parse_joint(w->off + 40, PARSE_OFFSET_MASK);
	for (int i = 0; i < VIEW_EXTENSIONS_MAX && view_is_extension(proto); i++) {
		p = frame_at(w->f, w->off, 8);
		if (!p)
			return;
		if (proto == 44) {
			v->ip_fragment = parse_be16(p + 2) >> 3 | (p[3] & 1) << 13;
			if (v->ip_fragment & 0x1fff)
				return;
		}
		w->off = w->behind =
			parse_joint(w->off + (proto == 44 ? 8 : (p[1] + 1) * 8), PARSE_OFFSET_MASK);
		proto = p[0];
	}
	v->ip_protocol = proto;
	view_transport(w, w->network + v->ip_len);
}

parse_inline int view_is_tag(unsigned int ethertype)
{
	return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100;
}

parse_inline int view_is_mpls(unsigned int ethertype)
{
	return ethertype == 0x8847 || ethertype == 0x8848;
}

parse_inline void view_network(struct view_walk *w, unsigned int ethertype)
{
	const unsigned char *p;

	for (int i = 0; i < VIEW_TAGS_MAX && view_is_tag(ethertype); i++) {
		p = frame_at(w->f, w->off, 4);
		if (!p)
			return;
		w->v->vlan = w->v->vlan ?: parse_be16(p);
		ethertype = parse_be16(p + 2);
		w->off = parse_joint(w->off + 4, PARSE_OFFSET_MASK);
	}
	for (int i = 0; i < VIEW_TAGS_MAX && view_is_mpls(ethertype); i++) {
		p = frame_at(w->f, w->off, 5);
		if (!p)
			return;
		w->off = parse_joint(w->off + 4, PARSE_OFFSET_MASK);
		if (p[2] & 1) /* the last label: RFC 4928, IP by its first nibble */
			ethertype = (p[4] >> 4) == 4 ? 0x0800 : (p[4] >> 4) == 6 ? 0x86dd : 0;
	}
	w->v->ethertype = ethertype;
	if (ethertype == 0x0800)
		view_ipv4(w);
	else if (ethertype == 0x86dd)
		view_ipv6(w);
}

parse_inline void view_llc(struct view_walk *w)
{
	const unsigned char *p = frame_at(w->f, w->off, 8);

	if (!p || !llc_is_snap(p))
		return;
	w->off += 8;
	view_network(w, parse_be16(p + 6));
}

parse_inline void view_ethernet(struct view_walk *w)
{
	const unsigned char *p = frame_at(w->f, 0, 14);
	unsigned int type;

	if (!p)
		return;
	if (!(w->hidden & VIEW_MAC)) {
		w->v->has |= VIEW_MAC;
		view_copy(w->v->addr[0], p, 12);
	}
	type = parse_be16(p + 12);
	w->off = 14;
	if (type >= 1536)
		view_network(w, type);
	else
		view_llc(w);
}

/* ---- 802.11 ---------------------------------------------------------------------------------- */

/* The elements of beacons and probes. The SSID is the first (IEEE 802.11-2020, 9.3.3). The channel
 * follows soon after. */
#define VIEW_ELEMENTS_MAX 4
#define FCS_LEN 4

parse_inline void view_elements(struct view_walk *w)
{
	const unsigned char *e = frame_at(w->f, w->off, 2);

	if (!e || e[0] != 0 || e[1] > 32)
		return;
	w->v->has |= VIEW_SSID;
	w->v->ssid_len = e[1];
	w->ssid = w->off + 2;
	for (int i = 0; i < VIEW_ELEMENTS_MAX; i++) {
		w->off = parse_joint(w->off + 2 + e[1], PARSE_OFFSET_MASK);
		e = frame_at(w->f, w->off, 3);
		if (!e)
			return;
		if (e[0] == 3 && e[1] == 1) { /* DS parameter set */
			w->v->channel = e[2];
			return;
		}
	}
}

/* Management frames: beacon 8, probe response 5, probe request 4, disassociation 10,
 * deauthentication 12. `off` is after the header. */
parse_inline void view_management(struct view_walk *w, unsigned int subtype)
{
	const unsigned char *p;

	if (w->v->frame_control & 0x4000)
		return; /* protected */
	if (subtype == 10 || subtype == 12) {
		p = frame_at(w->f, w->off, 2);
		if (p)
			w->v->reason = parse_le16(p);
	} else if (subtype == 8 || subtype == 5) {
		p = frame_at(w->f, w->off, 12);
		if (!p)
			return;
		w->v->timestamp_us = parse_le64(p);
		w->v->beacon_interval = parse_le16(p + 8);
		w->v->capability = parse_le16(p + 10);
		w->off += 12;
		view_elements(w);
	} else if (subtype == 4) {
		view_elements(w);
	}
}

parse_inline void view_dot11_data(struct view_walk *w, unsigned int fc)
{
	unsigned int len = (fc & 0x0300) == 0x0300 ? 30 : 24, is_amsdu = 0;
	const unsigned char *p;

	if (len == 30) {
		p = frame_at(w->f, w->off + 24, 6);
		if (!p)
			return;
		view_copy(w->v->addr[3], p, 6);
	}
	if (fc & 0x80) { /* QoS: an A-MSDU's subframes are not parsed */
		p = frame_at(w->f, w->off + len, 2);
		if (!p)
			return;
		is_amsdu = p[0] & 0x80;
		len += fc & 0x8000 ? 6 : 2;
	}
	if (w->f->flags & RADIOTAP_DATAPAD) {
		w->v->mpdu_len -= -len & 3;
		len = (len + 3) & ~3u;
	}
	/* No body, an encrypted one, or a later fragment. */
	if (is_amsdu || (fc & 0x4040) || (w->v->sequence & 15))
		return;
	w->off = parse_joint(w->off + len, PARSE_OFFSET_MASK);
	view_llc(w);
}

parse_inline void view_dot11(struct view_walk *w)
{
	struct frame_view *v = w->v;
	const unsigned char *p = frame_at(w->f, w->off, 10);
	unsigned int fc;

	if (!p || (p[0] & 3))
		return;
	v->has |= VIEW_DOT11 | VIEW_MAC;
	v->bad_fcs = !!(w->f->flags & RADIOTAP_BAD_FCS);
	v->mpdu_len = parse_min(w->f->orig_len - w->off, 0xffff - FCS_LEN);
	if (!(w->f->flags & RADIOTAP_FCS))
		v->mpdu_len += FCS_LEN;
	fc = v->frame_control = parse_le16(p);
	v->duration = parse_le16(p + 2);
	view_copy(v->addr[0], p + 4, 6);
	p = frame_at(w->f, w->off, 16); /* CTS and ACK lack this address */
	if (!p || (fc & 0xfc) == 0xc4 || (fc & 0xfc) == 0xd4)
		return;
	view_copy(v->addr[1], p + 10, 6);
	p = frame_at(w->f, w->off, 24);
	if (!p || (fc & 0x0c) == 0x04)
		return;
	view_copy(v->addr[2], p + 16, 6);
	v->sequence = parse_le16(p + 22);
	if ((fc & 0x0c) == 0x08) {
		view_dot11_data(w, fc);
	} else if ((fc & 0x0c) == 0) {
		w->off = parse_joint(w->off + (fc & 0x8000 ? 28 : 24), PARSE_OFFSET_MASK);
		view_management(w, fc >> 4 & 15);
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Groups that need not be filled. The label needs the addresses. */
parse_inline unsigned int view_hidden(unsigned int wanted)
{
	return ~(wanted | (wanted & VIEW_LABEL ? VIEW_IP : 0));
}

#define VIEW_ZERO(v, from, to)                                                                     \
	do {                                                                                       \
		_Pragma("unroll") for (int word = (from); word < (to);                             \
				       word++)((unsigned long long *)(v))[word] = 0;               \
	} while (0)

/* Clears the groups that frames of the link type can have, except the payload. */
parse_inline void view_clear(struct frame_view *v, int linktype)
{
	VIEW_ZERO(v, 0, VIEW_WORD(event_len));
	if (linktype != LINKTYPE_ETHERNET)
		VIEW_ZERO(v, VIEW_WORD(mhz), VIEW_WORDS);
}

/* Whether one of these words is not 0. Reading costs less than half of writing. A CPU reads the two
 * halves in parallel. */
#define VIEW_ANY(v, from, to)                                                                      \
	({                                                                                         \
		unsigned long long first = 0, second = 0;                                          \
		_Pragma("unroll") for (int word = (from); word < ((from) + (to)) / 2; word++)      \
			first |= ((const unsigned long long *)(v))[word];                          \
		__asm__ volatile("" : "+r"(first));                                                \
		_Pragma("unroll") for (int word = ((from) + (to)) / 2; word < (to); word++)        \
			second |= ((const unsigned long long *)(v))[word];                         \
		__asm__ volatile("" : "+r"(second));                                               \
		first | second;                                                                    \
	})

parse_inline void view_clear_words(struct frame_view *v, int from, int to)
{
	if (VIEW_ANY(v, from, to))
		VIEW_ZERO(v, from, to);
}

parse_inline void view_clear_payload(struct frame_view *v, unsigned int payload, unsigned int reach)
{
	if (!payload) {
		view_clear_words(v, VIEW_WORD(payload), VIEW_WORD(mhz));
		return;
	}
	_Pragma("unroll") for (int at = VIEW_WORD(payload); at < VIEW_WORD(mhz);
			       at += VIEW_PAYLOAD_STEP)
	{
		if (reach > at * 8u)
			VIEW_ZERO(v, at, at + VIEW_PAYLOAD_STEP);
	}
}

/* Clears all other groups as far as modules reach. `payload`: the most payload bytes that a module
 * sees. These groups are 0 already, unless a module wrote to them or an earlier frame had
 * payload. */
parse_inline void view_clear_rest(struct frame_view *v, int linktype, unsigned int payload,
				  unsigned int reach)
{
	if (SALUKI_REACHES(reach, event_len))
		view_clear_words(v, VIEW_WORD(event_len), VIEW_WORD(payload));
	if (SALUKI_REACHES(reach, payload))
		view_clear_payload(v, payload, reach);
	if (linktype == LINKTYPE_ETHERNET && SALUKI_REACHES(reach, mhz))
		view_clear_words(v, VIEW_WORD(mhz), VIEW_WORDS);
}

/* `w->v` is all 0 (view_clear), except fields that the caller has set. The walk begins at 0. The
 * caller copies the fields of variable length: SSID and payload. */
parse_inline void view_fill(struct view_walk *w, int linktype)
{
	switch (linktype) {
	case LINKTYPE_ETHERNET:
		view_ethernet(w);
		break;
	case LINKTYPE_RADIOTAP:
		w->off = radiotap_len(w->f);
		if (!w->off)
			break;
		view_radiotap(w->v, w->f, w->off);
		view_dot11(w);
		break;
	case LINKTYPE_IEEE802_11:
		view_dot11(w);
		break;
	}
}

#endif
