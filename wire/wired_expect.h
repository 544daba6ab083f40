/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a template expects of its flow's next frame. Both ends include it: an expectation that one
 * end computes otherwise would change frames. Field by field, `last` is the flow's last frame:
 *
 *     IP total length   as last (IPv6: payload length)
 *     IPv4 id           last + step; the step is 0, 1 or 256, whichever came last
 *     IPv4 checksum     computed; 0 if that of the last frame was 0 (offload)
 *     TCP seq           last + its payload + SYN + FIN
 *     TCP ack           as last; otherwise stored as the difference from the peer's next seq
 *     TCP time stamps   as last; otherwise stored as the differences of TSval from last, and of
 *                       TSecr from the peer's TSval
 *     TCP window, flags as last
 *     UDP length        IP payload
 *     UDP checksum      as last
 *     ICMP sequence     last + 1
 *     TCP, ICMP checksum   none: both ends store it
 *     original length   header lengths + slack, at least `floor`
 *     captured length   original length, at most `limit`
 *     other bytes       as last
 */
#ifndef WIRE_WIRED_EXPECT_H
#define WIRE_WIRED_EXPECT_H

#include <stddef.h>
#include <string.h>

#include "bytes.h"
#include "wired_templates.h"

/* Bits of a known flow's mask. Those without a protocol's name are for all. */
enum {
	WIRED_LENGTH = 1,
	WIRED_ID = 2,
	WIRED_SEQ = 4, /* TCP and ICMP sequence; UDP: checksum */
	WIRED_ACK = 8,
	WIRED_FLAGS = 16,
	WIRED_WINDOW = 32,
	WIRED_STAMPS = 64,
	WIRED_RARE = 128, /* a byte of bits follows in `rares` */
};

enum {
	WIRED_RARE_IP_CHECKSUM = 1,
	WIRED_RARE_ORIGINAL = 2,
	WIRED_RARE_BYTES = 4, /* other bytes differ */
	WIRED_RARE_UDP_LENGTH = 8,
	WIRED_RARE_WIDE_ACK = 16,
	WIRED_RARE_WIDE_STAMPS = 32,
	WIRED_RARE_KEPT = 64,
};
/* The rare bits that a new template as differences may have. */
#define WIRED_RARE_NEW (WIRED_RARE_ORIGINAL | WIRED_RARE_KEPT)

#define WIRED_V4_LEN 20
#define WIRED_V6_LEN 40
#define WIRED_PADDED_MAX 64 /* an original length up to this can be padding */

static inline uint16_t load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline int wired_protocol(const struct wired_shape *s)
{
	return s->kind & ~WIRED_V6;
}

static inline bool wired_is_tcp(const struct wired_shape *s)
{
	return wired_protocol(s) >= WIRED_TCP;
}

/* Offset of the length in an IP header. */
static inline int wired_length_at(const struct wired_shape *s)
{
	return s->l3 + (s->kind & WIRED_V6 ? 4 : 2);
}

/* Where the TCP time stamps are: TSval, then TSecr. */
#define WIRED_STAMPS_AT 24
#define WIRED_TCP_STAMPS_LEN 32

#define WIRED_L3_MAX 26

/* Returns where the header is behind VLAN tags, MPLS labels and PPPoE, with its EtherType in
 * `*type`, if that is at most at WIRED_L3_MAX. At least 34 bytes are captured. */
uint32_t wired_l3(const uint8_t *bytes, uint32_t *type);

/* The layer behind an IP header that has neither options nor fragments. */
static inline void wired_shape_l4(struct wired_shape *s, const uint8_t *bytes, uint32_t kept,
				  uint8_t protocol)
{
	const uint8_t *l4 = bytes + s->l4;
	uint32_t left = kept - s->l4;

	if (protocol == 6 && left >= 20) {
		uint32_t len = l4[12] >> 2 & 0x3c;

		if (len < 20 || len > left || s->l4 + len > WIRED_HEAD_MAX)
			return;
		s->kind += WIRED_TCP - WIRED_IP;
		s->len = s->l4 + len;
		if (len == WIRED_TCP_STAMPS_LEN && load_be32(l4 + 20) == 0x0101080a)
			s->kind += WIRED_TCP_STAMPS - WIRED_TCP;
	} else if (protocol == 17 && left >= 8) {
		s->kind += WIRED_UDP - WIRED_IP;
		s->len = s->l4 + 8;
	} else if (protocol == (s->kind & WIRED_V6 ? 58 : 1) && left >= 8) {
		s->kind += WIRED_ICMP - WIRED_IP;
		s->len = s->l4 + 8;
	}
}

/* Returns the shape of a frame of which `kept` bytes are captured. */
static inline struct wired_shape wired_shape(const uint8_t *bytes, uint32_t kept)
{
	struct wired_shape s = { .kind = WIRED_RAW,
				 .len = kept < WIRED_HEAD_MAX ? kept : WIRED_HEAD_MAX };
	uint32_t l3 = 14, type;

	if (kept < 14 + WIRED_V4_LEN)
		return s;
	type = load_be16(bytes + 12);
	if (type != 0x0800 && type != 0x86dd)
		l3 = wired_l3(bytes, &type);
	if (type == 0x0800 && kept >= l3 + WIRED_V4_LEN && bytes[l3] == 0x45) {
		s = (struct wired_shape){ WIRED_IP, l3, l3 + WIRED_V4_LEN, l3 + WIRED_V4_LEN };
		if (!(load_be16(bytes + l3 + 6) & 0x3fff))
			wired_shape_l4(&s, bytes, kept, bytes[l3 + 9]);
	} else if (type == 0x86dd && kept >= l3 + WIRED_V6_LEN) {
		s = (struct wired_shape){ WIRED_IP | WIRED_V6, l3, l3 + WIRED_V6_LEN,
					  l3 + WIRED_V6_LEN };
		wired_shape_l4(&s, bytes, kept, bytes[l3 + 6]);
	}
	return s;
}

static inline bool wired_shape_same(const struct wired_shape *a, const struct wired_shape *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The frame's length by its headers. */
static inline uint32_t wired_header_length(const struct wired_shape *s, const uint8_t *head)
{
	if (wired_protocol(s) == WIRED_RAW)
		return 0;
	return s->l3 + load_be16(head + wired_length_at(s)) +
	       (s->kind & WIRED_V6 ? WIRED_V6_LEN : 0);
}

static inline uint32_t wired_original(const struct wired_template *t, uint32_t header_length)
{
	uint32_t len = header_length + t->slack;

	return len < t->floor ? t->floor : len;
}

static inline void wired_learn_original(struct wired_template *t, uint32_t header_length,
					uint32_t len)
{
	if (len == wired_original(t, header_length))
		return;
	if (len <= WIRED_PADDED_MAX && header_length + t->slack < len) {
		t->floor = len;
	} else {
		t->floor = 0;
		t->slack = len - header_length;
	}
}

static inline uint32_t wired_kept(const struct wired_template *t, uint32_t orig_len)
{
	return orig_len < t->limit ? orig_len : t->limit;
}

static inline void wired_learn_kept(struct wired_template *t, uint32_t orig_len, uint32_t kept)
{
	if (kept != wired_kept(t, orig_len))
		t->limit = kept < orig_len ? kept : UINT32_MAX;
}

/* The lengths of a new template's first frame. */
static inline void wired_begin_lengths(struct wired_template *t, uint32_t header_length,
				       uint32_t orig_len, uint32_t kept)
{
	t->slack = t->floor = 0;
	t->limit = UINT32_MAX;
	wired_learn_original(t, header_length, orig_len);
	wired_learn_kept(t, orig_len, kept);
}

/* A new template as differences expects the lengths that the other one does. */
static inline void wired_take_lengths(struct wired_template *t, const struct wired_template *of)
{
	t->slack = of->slack;
	t->floor = of->floor;
	t->limit = of->limit;
}

/* The checksum of an IPv4 header, whatever checksum it has. The sum depends neither on the
 * machine's byte order nor on the size of the words that are added (RFC 1071), as it is never 0. */
static inline uint16_t wired_ip_checksum(const uint8_t *l3)
{
	uint64_t sum =
		(uint64_t)load_32(l3) + load_32(l3 + 4) + load_32(l3 + 12) + load_32(l3 + 16);
	uint16_t out;
	uint32_t half;

	memcpy(&out, l3 + 8, 2); /* the checksum is behind these */
	sum += out;
	sum += sum << 32 | sum >> 32; /* the upper half is the sum of both, with its carry */
	half = sum >> 32;
	half += half << 16 | half >> 16;
	out = ~(half >> 16);
	return load_be16((const uint8_t *)&out);
}

/* The length that a UDP header has if the datagram fills its IP packet. */
static inline uint16_t wired_udp_length(const struct wired_shape *s, const uint8_t *head)
{
	uint16_t length = load_be16(head + wired_length_at(s));

	return s->kind & WIRED_V6 ? length : length - WIRED_V4_LEN;
}

/* The sequence number behind a TCP frame. */
static inline uint32_t wired_next_seq(const struct wired_shape *s, const uint8_t *head)
{
	const uint8_t *l4 = head + s->l4;
	uint32_t len = wired_header_length(s, head) - s->len;

	return load_be32(l4 + 4) + len + (l4[13] & 1) + (l4[13] >> 1 & 1);
}

/* The step that follows from a new id, or the old step. */
static inline uint16_t wired_step(uint16_t difference, uint16_t step)
{
	return difference <= 1 || difference == 256 ? difference : step;
}

/* The peer's next sequence number and last TSval. Without a peer, the flow's own last values. */
static inline uint32_t wired_peer_seq(const struct wired_templates *t,
				      const struct wired_template *m)
{
	const struct wired_template *peer = &t->list[m->peer];

	return m->peer && wired_is_tcp(&peer->shape) ? peer->next_seq
						     : load_be32(m->head + m->shape.l4 + 8);
}

static inline uint32_t wired_peer_stamp(const struct wired_templates *t,
					const struct wired_template *m)
{
	const struct wired_template *peer = &t->list[m->peer];
	bool known = m->peer && wired_protocol(&peer->shape) == WIRED_TCP_STAMPS;

	return known ? load_be32(peer->head + peer->shape.l4 + WIRED_STAMPS_AT)
		     : load_be32(m->head + m->shape.l4 + WIRED_STAMPS_AT + 4);
}

/* One bit for each byte of a head: bytes 0 to 63, and 64 to WIRED_HEAD_MAX - 1. */
struct wired_bits {
	uint64_t low;
	uint32_t high;
};

struct wired_masks {
	struct wired_bits fields; /* bytes that are part of a field above */
	uint64_t flow;		  /* addresses and ports */
} __attribute__((aligned(32)));	  /* so that a shift finds one */

/* By kind, and by l3, which is 14, 18, 22 or 26; see wired_masks_of. */
extern const struct wired_masks wired_masks[2 * WIRED_V6][4];

static inline const struct wired_masks *wired_masks_of(const struct wired_shape *s)
{
	return &wired_masks[s->kind][s->l3 >> 2 & 3];
}

/* Gives the next number, of a template that the caller fills in. */
static inline uint8_t wired_new(struct wired_templates *t)
{
	uint8_t n = t->last == t->max ? 1 : t->last + 1;

	t->last = n;
	if (t->count < n)
		t->count = n;
	t->list[n].peer = 0;
	return n;
}

/* A new TCP template has a peer's number, which is 0 or at most `count`. */
static inline void wired_set_peer(struct wired_templates *t, uint8_t n, uint8_t peer)
{
	t->list[n].peer = peer;
	t->list[peer].peer = n; /* that of the unused first template does no harm */
}

/* What a template learns from its first head. */
static inline void wired_begin(struct wired_template *m)
{
	m->step = 1;
	m->next_seq = wired_is_tcp(&m->shape) ? wired_next_seq(&m->shape, m->head) : 0;
}

#endif
