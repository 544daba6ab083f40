// SPDX-License-Identifier: GPL-2.0
/*
 * Wired templates, the sensor's side: see wired_templates.h. In: Ethernet frames. Out: columns of
 * the open combo. Always holds: a frame adds at most its captured bytes and COMBO_FRAME_MAX to
 * the columns, and no byte outside the frame is read. The mirror is wired_next.c.
 */
#include <string.h>

#include "columns.h"
#include "wired_compare.h"
#include "wired_expect.h"

#define UNLIKE_MAX 16 /* a power of two */

/* A frame being appended. */
struct append {
	struct combo *c;
	struct wired_templates *t;
	struct wired_template *m;
	const uint8_t *bytes; /* of the frame */
	struct wired_shape shape;
	size_t added; /* bytes in columns */
	uint8_t mask, rare;
};

/* ---- finding the flow ------------------------------------------------------------------------ */

static uint32_t mix(uint32_t a, uint32_t b)
{
	return (a ^ b * 0x85ebca6bu) * 0x9e3779b1u;
}

/* One end of a flow. */
static uint32_t hash_end(const uint8_t *address, int words, uint32_t port)
{
	uint32_t h = mix(port, load_32(address));

	for (int i = 1; i < words; i++)
		h = mix(h, load_32(address + 4 * i));
	return h;
}

/* The flow's bucket. That of its other direction differs in the lowest bit. */
static uint32_t flow_bucket(const uint8_t *bytes, const struct wired_shape *s)
{
	const uint8_t *ip = bytes + s->l3, *l4 = bytes + s->l4;
	bool ports = wired_protocol(s) >= WIRED_UDP;
	uint32_t from, to, source = ports ? load_be16(l4) : 0, dest = ports ? load_be16(l4 + 2) : 0;

	if (wired_protocol(s) == WIRED_RAW) {
		from = s->len < 14 ? s->len : hash_end(bytes + 6, 2, s->len);
		to = s->len < 14 ? 0 : hash_end(bytes, 2, 0);
	} else if (s->kind & WIRED_V6) {
		from = hash_end(ip + 8, 4, source);
		to = hash_end(ip + 24, 4, dest);
	} else {
		from = hash_end(ip + 12, 1, source);
		to = hash_end(ip + 16, 1, dest);
	}
	return ((from ^ to) * 0x9e3779b1u >> 20 & (WIRED_BUCKETS - 2)) | (from < to);
}

/* Whether a template of the same shape is of this frame's flow, which has the addresses and ports
 * `flow`. A frame that is not understood is of the flow if it is like the bucket's last frame: only
 * such a frame can differ from its template in most bytes. */
static bool same_flow(const struct wired_shape *s, const struct wired_bits *differ, uint64_t flow)
{
	if (wired_protocol(s) == WIRED_RAW)
		return wired_count(differ) * 3 <= s->len;
	return !(differ->low & flow);
}

static uint32_t class_of(const uint8_t *bytes, const struct wired_shape *s)
{
	uint32_t h = mix(s->kind, s->len);

	if (s->len >= 14)
		h = mix(mix(h, load_32(bytes + 6)), load_32(bytes + 10));
	return h >> 26; /* of WIRED_CLASSES */
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Writes a byte of bits and the bytes that differ, for each group of eight that has some. */
static inline uint8_t *put_groups(uint8_t *p, const uint8_t *bytes, uint64_t differ)
{
	for (; differ; differ >>= 8, bytes += 8) {
		uint32_t bits = differ & 0xff;

		if (!bits)
			continue;
		*p++ = bits;
		for (; bits; bits &= bits - 1)
			*p++ = bytes[(uint32_t)__builtin_ctz(bits)];
	}
	return p;
}

/* Writes the bytes of the frame's head that differ. Returns the bytes written to the column. */
static inline size_t put_differences(struct append *a, const struct wired_bits *differ)
{
	uint8_t *start = a->c->columns[COMBO_DIFFERENCES].end, *p;

	store_be(start, wired_groups(differ), 2);
	p = put_groups(start + 2, a->bytes, differ->low);
	p = put_groups(p, a->bytes + 64, differ->high);
	a->c->columns[COMBO_DIFFERENCES].end = p;
	return p - start;
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* Returns the rare bits of the lengths that are not as expected. */
static __attribute__((noinline)) uint8_t put_other_lengths(struct combo *c,
							   struct wired_template *m,
							   const struct combo_frame *f,
							   uint32_t header_length)
{
	uint8_t rare = 0;

	if (f->orig_len != wired_original(m, header_length)) {
		rare |= WIRED_RARE_ORIGINAL;
		c->columns_len += put_varint(c, COMBO_ORIGINALS, f->orig_len);
		wired_learn_original(m, header_length, f->orig_len);
	}
	if (f->kept_len != wired_kept(m, f->orig_len)) {
		rare |= WIRED_RARE_KEPT;
		c->columns_len += put_varint(c, COMBO_KEPTS, f->kept_len);
		wired_learn_kept(m, f->orig_len, f->kept_len);
	}
	return rare;
}

static inline void put_lengths(struct append *a, const struct combo_frame *f)
{
	uint32_t header_length = wired_header_length(&a->shape, a->bytes);

	if (f->orig_len != wired_original(a->m, header_length) ||
	    f->kept_len != wired_kept(a->m, f->orig_len))
		a->rare |= put_other_lengths(a->c, a->m, f, header_length);
}

/* The bytes behind the frame's first `head` bytes. */
static inline void put_rest(struct combo *c, const struct combo_frame *f, uint32_t head)
{
	if (f->kept_len > head)
		put_tail(c, f->data + head, f->kept_len - head);
}

/* ---- a new template -------------------------------------------------------------------------- */

/* Whether the frame's differences from a head, as put_differences would write them, are at most
 * half as long as the head. append_new asks before it writes them: writing is much slower, and in a
 * flood of new flows all differences are longer. */
static bool differences_pay(const struct wired_bits *differ, uint32_t len)
{
	uint32_t n = wired_count(differ);

	return n && (2 + wired_count_groups(differ) + n) * 2 <= len;
}

static void put_whole(struct append *a, const struct combo_frame *f)
{
	uint32_t len = f->kept_len < WIRED_HEAD_MAX ? f->kept_len : WIRED_HEAD_MAX;
	struct wired_template *m = a->m;

	a->added += put_byte(a->c, COMBO_FLOWS, WIRED_WHOLE);
	a->added += put_varint(a->c, COMBO_KEPTS, f->kept_len);
	a->added += put_varint(a->c, COMBO_CUTS, f->orig_len - f->kept_len);
	wired_copy(a->c->columns[COMBO_HEADS].end, f->data, len);
	a->c->columns[COMBO_HEADS].end += len;
	a->added += len;
	put_rest(a->c, f, len);
	wired_begin_lengths(m, wired_header_length(&a->shape, f->data), f->orig_len, f->kept_len);
}

/* Stores the frame as differences from `of`, a template of the same shape, which may be the one
 * that is replaced. */
static void put_difference(struct append *a, const struct combo_frame *f, uint8_t of,
			   const struct wired_bits *differ)
{
	struct wired_template *m = a->m;
	const struct wired_template *from = &a->t->list[of];

	a->added += put_differences(a, differ);
	wired_take_lengths(m, from);
	a->added += put_byte(a->c, COMBO_FLOWS, WIRED_DIFFERENCE);
	a->added += put_byte(a->c, COMBO_REFERENCES, of);
	put_lengths(a, f);
	a->added += put_byte(a->c, COMBO_RARES, a->rare);
	put_rest(a->c, f, a->shape.len);
}

/* The template in the bucket of the other direction, if it is of that direction: a wrong peer's
 * number would be as good for the format, and compress worse. Returns its number, or 0. */
static uint8_t peer_of(const struct wired_templates *t, uint32_t bucket, const uint8_t *bytes,
		       const struct wired_shape *s)
{
	uint8_t n = t->buckets[bucket ^ 1];
	const struct wired_template *m = &t->list[n];
	uint32_t at = s->l3 + (s->kind & WIRED_V6 ? 8 : 12), len = s->kind & WIRED_V6 ? 16 : 4;

	if (!n || !wired_is_tcp(&m->shape) || m->shape.l4 != s->l4 ||
	    memcmp(m->head + s->l4, bytes + s->l4 + 2, 2) ||
	    memcmp(m->head + s->l4 + 2, bytes + s->l4, 2) ||
	    memcmp(m->head + at, bytes + at + len, len) ||
	    memcmp(m->head + at + len, bytes + at, len))
		return 0;
	return n;
}

/* Whether a new template is to be compared with the last one of its class. In a flood of flows that
 * have nothing in common, comparing costs time and finds nothing. */
static bool comparing_pays(const struct wired_templates *t)
{
	return t->unlike < UNLIKE_MAX || t->unlike % UNLIKE_MAX == 0;
}

static __attribute__((noinline)) void append_new(struct combo *c, const struct combo_frame *f,
						 struct wired_shape s, uint32_t bucket)
{
	struct append a = { .c = c, .t = &c->templates->wired, .bytes = f->data, .shape = s };
	struct wired_templates *t = a.t;
	uint32_t class = class_of(f->data, &s);
	bool is_full = t->count == t->max, alike = false;
	uint8_t of = t->classes[class], n = wired_new(t);
	struct wired_template *m = a.m = &t->list[n];
	struct wired_bits differ;

	if (of && comparing_pays(t) && wired_shape_same(&t->list[of].shape, &s)) {
		differ = wired_compare(t->list[of].head, f->data, s.len);
		alike = differences_pay(&differ, s.len);
	}
	t->unlike = alike ? 0 : t->unlike + 1;
	if (is_full && t->buckets[m->bucket] == n)
		t->buckets[m->bucket] = 0; /* that of the replaced template */
	m->bucket = bucket;
	m->shape = s;
	wired_copy(m->head, f->data, s.len);
	if (alike)
		put_difference(&a, f, of, &differ);
	else
		put_whole(&a, f);
	if (wired_is_tcp(&s)) {
		wired_set_peer(t, n, peer_of(t, bucket, f->data, &s));
		a.added += put_byte(c, COMBO_REFERENCES, m->peer);
	}
	wired_begin(m);
	t->buckets[bucket] = t->classes[class] = n;
	c->columns_len += a.added;
}

/* ---- a known flow ---------------------------------------------------------------------------- */

static void put_ip(struct append *a)
{
	const struct wired_template *m = a->m;
	int at = wired_length_at(&a->shape);
	const uint8_t *ip = a->bytes + a->shape.l3, *last = m->head + a->shape.l3;
	uint16_t length = load_be16(a->bytes + at), step;

	if (length != load_be16(m->head + at)) {
		a->mask |= WIRED_LENGTH;
		a->added += put_be(a->c, COMBO_TOTALS, length, 2);
	}
	if (a->shape.kind & WIRED_V6)
		return;
	step = load_be16(ip + 4) - load_be16(last + 4);
	if (step != m->step) {
		a->mask |= WIRED_ID;
		a->added += put_be(a->c, COMBO_IDS, step, 2);
		a->m->step = wired_step(step, m->step);
	}
}

/* Behind the other checksum, as the collector computes it when it has the other bytes. */
static void put_ip_checksum(struct append *a)
{
	const struct wired_shape *s = &a->shape;
	const uint8_t *ip = a->bytes + s->l3, *last = a->m->head + s->l3;
	uint16_t sum = load_be16(ip + 10);

	if (sum == (load_be16(last + 10) ? wired_ip_checksum(ip) : 0))
		return;
	a->rare |= WIRED_RARE_IP_CHECKSUM;
	a->added += put_be(a->c, COMBO_RANDOMS, sum, 2);
}

static void put_icmp(struct append *a)
{
	const uint8_t *l4 = a->bytes + a->shape.l4, *last = a->m->head + a->shape.l4;
	uint16_t step = load_be16(l4 + 6) - load_be16(last + 6);

	if (step != 1) {
		a->mask |= WIRED_SEQ;
		a->added += put_be(a->c, COMBO_IDS, step, 2);
	}
	a->added += put_be(a->c, COMBO_RANDOMS, load_be16(l4 + 2), 2);
}

static void put_udp(struct append *a)
{
	const struct wired_shape *s = &a->shape;
	const uint8_t *l4 = a->bytes + s->l4, *last = a->m->head + s->l4;
	uint16_t length = load_be16(l4 + 4), sum = load_be16(l4 + 6);

	if (length != wired_udp_length(s, a->bytes)) {
		a->rare |= WIRED_RARE_UDP_LENGTH;
		a->added += put_be(a->c, COMBO_TOTALS, length, 2);
	}
	if (sum != load_be16(last + 6)) {
		a->mask |= WIRED_SEQ;
		a->added += put_be(a->c, COMBO_RANDOMS, sum, 2);
	}
}

static void put_stamps(struct append *a)
{
	const struct wired_shape *s = &a->shape;
	const uint8_t *at = a->bytes + s->l4 + WIRED_STAMPS_AT;
	const uint8_t *last = a->m->head + s->l4 + WIRED_STAMPS_AT;
	uint64_t value, reply;

	if (load_word(at) == load_word(last))
		return;
	a->mask |= WIRED_STAMPS;
	value = zigzag((int32_t)(load_be32(at) - load_be32(last)));
	reply = zigzag((int32_t)(load_be32(at + 4) - wired_peer_stamp(a->t, a->m)));
	if ((value | reply) > UINT16_MAX) {
		a->rare |= WIRED_RARE_WIDE_STAMPS;
		a->added += put_be(a->c, COMBO_TCP_STAMPS, value, 4);
		a->added += put_be(a->c, COMBO_TCP_STAMPS, reply, 4);
	} else {
		a->added += put_be(a->c, COMBO_TCP_STAMPS, value, 2);
		a->added += put_be(a->c, COMBO_TCP_STAMPS, reply, 2);
	}
}

static void put_ack(struct append *a, uint32_t ack)
{
	uint64_t d = zigzag((int32_t)(ack - wired_peer_seq(a->t, a->m)));

	a->mask |= WIRED_ACK;
	if (d > UINT16_MAX) {
		a->rare |= WIRED_RARE_WIDE_ACK;
		a->added += put_be(a->c, COMBO_ACKS, d, 4);
	} else {
		a->added += put_be(a->c, COMBO_ACKS, d, 2);
	}
}

static void put_tcp(struct append *a)
{
	const struct wired_template *m = a->m;
	const uint8_t *l4 = a->bytes + a->shape.l4, *last = m->head + a->shape.l4;
	uint32_t seq = load_be32(l4 + 4), ack = load_be32(l4 + 8);
	uint16_t window = load_be16(l4 + 14);

	if (seq != m->next_seq) {
		a->mask |= WIRED_SEQ;
		a->added += put_be(a->c, COMBO_SEQS, seq - m->next_seq, 4);
	}
	if (ack != load_be32(last + 8))
		put_ack(a, ack);
	if (l4[13] != last[13]) {
		a->mask |= WIRED_FLAGS;
		a->added += put_byte(a->c, COMBO_TCP_FLAGS, l4[13]);
	}
	if (window != load_be16(last + 14)) {
		a->mask |= WIRED_WINDOW;
		a->added += put_be(a->c, COMBO_WINDOWS, window, 2);
	}
	if (wired_protocol(&a->shape) == WIRED_TCP_STAMPS)
		put_stamps(a);
	a->added += put_be(a->c, COMBO_RANDOMS, load_be16(l4 + 16), 2);
	a->m->next_seq = wired_next_seq(&a->shape, a->bytes);
}

static void put_fields(struct append *a)
{
	int protocol = wired_protocol(&a->shape);

	if (protocol == WIRED_RAW)
		return;
	put_ip(a);
	if (protocol >= WIRED_TCP)
		put_tcp(a);
	else if (protocol == WIRED_UDP)
		put_udp(a);
	else if (protocol == WIRED_ICMP)
		put_icmp(a);
	if (!(a->shape.kind & WIRED_V6))
		put_ip_checksum(a);
}

static inline size_t append_known(struct combo *c, const struct combo_frame *f,
				  struct wired_shape s, uint8_t number,
				  const struct wired_bits *other)
{
	struct append a = { .c = c, .t = &c->templates->wired, .bytes = f->data, .shape = s };
	struct wired_template *m = a.m = &a.t->list[number];

	put_fields(&a);
	put_lengths(&a, f);
	if (other->low | other->high) {
		a.rare |= WIRED_RARE_BYTES;
		a.added += put_differences(&a, other);
	}
	wired_copy(m->head, f->data, s.len);
	a.mask |= a.rare ? WIRED_RARE : 0;
	a.added += put_byte(c, COMBO_FLOWS, number);
	a.added += put_byte(c, COMBO_MASKS, a.mask);
	if (a.rare)
		a.added += put_byte(c, COMBO_RARES, a.rare);
	put_rest(c, f, s.len);
	return a.added;
}

void wired_append(struct combo *c, const struct combo_frame *f)
{
	struct wired_templates *t = &c->templates->wired;
	struct wired_shape s = wired_shape(f->data, f->kept_len);
	uint32_t bucket = flow_bucket(f->data, &s);
	const struct wired_template *m;
	uint8_t n;

	if (!c->has_flows) {
		wired_templates_reset(t, WIRED_TEMPLATES);
		c->columns_len += put_byte(c, COMBO_FLOWS, WIRED_TEMPLATES);
		c->has_flows = true;
	}
	n = t->buckets[bucket];
	m = &t->list[n];
	if (n && wired_shape_same(&m->shape, &s)) {
		struct wired_bits differ = wired_compare(m->head, f->data, s.len);
		const struct wired_masks *masks = wired_masks_of(&s);

		if (same_flow(&s, &differ, masks->flow)) {
			differ.low &= ~masks->fields.low;
			differ.high &= ~masks->fields.high;
			c->columns_len += append_known(c, f, s, n, &differ);
			return;
		}
	}
	append_new(c, f, s, bucket);
}
