// SPDX-License-Identifier: GPL-2.0
/*
 * Wired templates, the collector's side: see wired_templates.h. In: columns of a combo from the
 * wire. Out: frames. Always holds: each number, length and bit is checked before it is used, so a
 * malformed combo costs no more than a correct one. The mirror is wired_append.c.
 */
#include <string.h>

#include "columns.h"
#include "wired_expect.h"

/* A frame being put together. Its fields go to the template's head. */
struct next {
	struct combo_reader *r;
	struct combo_cursor *c;
	struct wired_templates *t;
	struct wired_template *m;
	uint8_t mask, rare;
};

/* Bits that a kind's mask and rare bits may have. */
static const struct {
	uint8_t mask, rare;
} allowed[WIRED_PROTOCOLS] = {
	[WIRED_RAW] = { 0, 0 },
	[WIRED_IP] = { WIRED_LENGTH | WIRED_ID, WIRED_RARE_IP_CHECKSUM },
	[WIRED_ICMP] = { WIRED_LENGTH | WIRED_ID | WIRED_SEQ, WIRED_RARE_IP_CHECKSUM },
	[WIRED_UDP] = { WIRED_LENGTH | WIRED_ID | WIRED_SEQ,
			WIRED_RARE_IP_CHECKSUM | WIRED_RARE_UDP_LENGTH },
	[WIRED_TCP] = { WIRED_LENGTH | WIRED_ID | WIRED_SEQ | WIRED_ACK | WIRED_FLAGS |
				WIRED_WINDOW,
			WIRED_RARE_IP_CHECKSUM | WIRED_RARE_WIDE_ACK },
	[WIRED_TCP_STAMPS] = { WIRED_LENGTH | WIRED_ID | WIRED_SEQ | WIRED_ACK | WIRED_FLAGS |
				       WIRED_WINDOW | WIRED_STAMPS,
			       WIRED_RARE_IP_CHECKSUM | WIRED_RARE_WIDE_ACK |
				       WIRED_RARE_WIDE_STAMPS },
};
#define RARE_ALL (WIRED_RARE_ORIGINAL | WIRED_RARE_BYTES | WIRED_RARE_KEPT)
#define V4_ONLY_MASK WIRED_ID
#define V4_ONLY_RARE WIRED_RARE_IP_CHECKSUM

static int take_bits(struct next *n)
{
	const struct wired_shape *s = &n->m->shape;
	uint8_t mask = allowed[wired_protocol(s)].mask | WIRED_RARE;
	uint8_t rare = allowed[wired_protocol(s)].rare | RARE_ALL;

	if (s->kind & WIRED_V6) {
		mask &= ~V4_ONLY_MASK;
		rare &= ~V4_ONLY_RARE;
	}
	n->rare = 0;
	if (take_byte(n->c, COMBO_MASKS, &n->mask) || n->mask & ~mask)
		return -EBADMSG;
	if (!(n->mask & WIRED_RARE))
		return 0;
	return take_byte(n->c, COMBO_RARES, &n->rare) || n->rare & ~rare ? -EBADMSG : 0;
}

/* Takes differences into a head of `len` bytes, outside the fields of `fields`. */
static int take_differences(struct combo_cursor *c, uint8_t *head, uint32_t len,
			    const struct wired_shape *fields)
{
	const struct wired_bits *own = &wired_masks_of(fields)->fields;
	const uint8_t *byte;
	uint32_t words;

	if (take_be(c, COMBO_DIFFERENCES, &words, 2) || !words || words >> (len + 7) / 8)
		return -EBADMSG;
	for (uint32_t at = 0; words; at += 8, words >>= 1) {
		uint8_t bits, fixed = at < 64 ? own->low >> at : own->high >> (at - 64);

		if (!(words & 1))
			continue;
		if (take_byte(c, COMBO_DIFFERENCES, &bits) || !bits || bits & fixed)
			return -EBADMSG;
		for (uint32_t i = at; bits; i++, bits >>= 1) {
			if (!(bits & 1))
				continue;
			if (i >= len || take_span(&c->columns[COMBO_DIFFERENCES], 1, &byte))
				return -EBADMSG;
			head[i] = *byte;
		}
	}
	return 0;
}

/* ---- lengths and bytes ----------------------------------------------------------------------- */

static int take_lengths(struct next *n, struct combo_frame *f)
{
	struct wired_template *m = n->m;
	uint32_t header_length = wired_header_length(&m->shape, m->head);
	uint64_t v = wired_original(m, header_length);

	if (n->rare & WIRED_RARE_ORIGINAL && take_varint(n->c, COMBO_ORIGINALS, &v, UINT32_MAX))
		return -EBADMSG;
	f->orig_len = v;
	wired_learn_original(m, header_length, f->orig_len);
	v = wired_kept(m, f->orig_len);
	if (n->rare & WIRED_RARE_KEPT && take_varint(n->c, COMBO_KEPTS, &v, UINT32_MAX))
		return -EBADMSG;
	if (v < m->shape.len || v > f->orig_len)
		return -EBADMSG;
	f->kept_len = v;
	wired_learn_kept(m, f->orig_len, f->kept_len);
	return 0;
}

/* Puts the head and the frame's tail, behind its first `head` bytes, together. */
static int take_tail(struct next *n, struct combo_frame *f, const uint8_t *head, uint32_t head_len,
		     uint8_t *room, size_t room_len)
{
	const uint8_t *tail;

	if (f->kept_len > room_len || tails_take(n->r, f->kept_len - head_len, &tail))
		return -EBADMSG;
	memcpy(room, head, head_len);
	memcpy(room + head_len, tail, f->kept_len - head_len);
	f->data = room;
	return 0;
}

/* ---- a new template -------------------------------------------------------------------------- */

static int take_whole(struct next *n, struct combo_frame *f, uint8_t *room, size_t len)
{
	const uint8_t *head;
	uint32_t head_len;
	uint64_t kept, cut;

	if (take_varint(n->c, COMBO_KEPTS, &kept, COMBO_BYTES_MAX) ||
	    take_varint(n->c, COMBO_CUTS, &cut, UINT32_MAX - kept))
		return -EBADMSG;
	f->kept_len = kept;
	f->orig_len = kept + cut;
	head_len = kept < WIRED_HEAD_MAX ? kept : WIRED_HEAD_MAX;
	if (take_span(&n->c->columns[COMBO_HEADS], head_len, &head) ||
	    take_tail(n, f, head, head_len, room, len))
		return -EBADMSG;
	n->m->shape = wired_shape(room, kept);
	memcpy(n->m->head, room, n->m->shape.len);
	wired_begin_lengths(n->m, wired_header_length(&n->m->shape, room), f->orig_len, kept);
	return 0;
}

/* `of` is a template that is known; it may be the one that is replaced. */
static int take_difference(struct next *n, struct combo_frame *f, const struct wired_template *of,
			   uint8_t *room, size_t len)
{
	static const struct wired_shape no_fields = { .kind = WIRED_RAW };
	struct wired_template *m = n->m;

	m->shape = of->shape;
	memmove(m->head, of->head, sizeof(m->head));
	wired_take_lengths(m, of);
	if (take_differences(n->c, m->head, m->shape.len, &no_fields) ||
	    take_byte(n->c, COMBO_RARES, &n->rare) || n->rare & ~WIRED_RARE_NEW ||
	    take_lengths(n, f))
		return -EBADMSG;
	return take_tail(n, f, m->head, m->shape.len, room, len);
}

static int next_new(struct next *n, struct combo_frame *f, uint8_t flow, uint8_t *room, size_t len)
{
	uint8_t number, peer, of = 0;

	if (flow == WIRED_DIFFERENCE &&
	    (take_byte(n->c, COMBO_REFERENCES, &of) || !of || of > n->t->count))
		return -EBADMSG;
	number = wired_new(n->t);
	n->m = &n->t->list[number];
	if (of ? take_difference(n, f, &n->t->list[of], room, len) : take_whole(n, f, room, len))
		return -EBADMSG;
	if (wired_is_tcp(&n->m->shape)) {
		if (take_byte(n->c, COMBO_REFERENCES, &peer) || peer > n->t->count)
			return -EBADMSG;
		wired_set_peer(n->t, number, peer);
	}
	wired_begin(n->m);
	return 0;
}

/* ---- a known flow ---------------------------------------------------------------------------- */

static int take_ip(struct next *n)
{
	struct wired_template *m = n->m;
	uint8_t *ip = m->head + m->shape.l3;
	uint32_t v;

	if (n->mask & WIRED_LENGTH) {
		if (take_be(n->c, COMBO_TOTALS, &v, 2))
			return -EBADMSG;
		store_be(m->head + wired_length_at(&m->shape), v, 2);
	}
	if (m->shape.kind & WIRED_V6)
		return 0;
	v = m->step;
	if (n->mask & WIRED_ID && take_be(n->c, COMBO_IDS, &v, 2))
		return -EBADMSG;
	m->step = wired_step(v, m->step);
	store_be(ip + 4, load_be16(ip + 4) + v, 2);
	return 0;
}

/* After all other bytes of the header. */
static int take_ip_checksum(struct next *n)
{
	uint8_t *ip = n->m->head + n->m->shape.l3;
	uint32_t v = 0;

	if (n->rare & WIRED_RARE_IP_CHECKSUM) {
		if (take_be(n->c, COMBO_RANDOMS, &v, 2))
			return -EBADMSG;
	} else if (load_be16(ip + 10)) {
		v = wired_ip_checksum(ip);
	}
	store_be(ip + 10, v, 2);
	return 0;
}

static int take_icmp(struct next *n)
{
	uint8_t *l4 = n->m->head + n->m->shape.l4;
	uint32_t step = 1, sum;

	if (n->mask & WIRED_SEQ && take_be(n->c, COMBO_IDS, &step, 2))
		return -EBADMSG;
	store_be(l4 + 6, load_be16(l4 + 6) + step, 2);
	if (take_be(n->c, COMBO_RANDOMS, &sum, 2))
		return -EBADMSG;
	store_be(l4 + 2, sum, 2);
	return 0;
}

static int take_udp(struct next *n)
{
	const struct wired_shape *s = &n->m->shape;
	uint8_t *l4 = n->m->head + s->l4;
	uint32_t v = wired_udp_length(s, n->m->head);

	if (n->rare & WIRED_RARE_UDP_LENGTH && take_be(n->c, COMBO_TOTALS, &v, 2))
		return -EBADMSG;
	store_be(l4 + 4, v, 2);
	if (n->mask & WIRED_SEQ) {
		if (take_be(n->c, COMBO_RANDOMS, &v, 2))
			return -EBADMSG;
		store_be(l4 + 6, v, 2);
	}
	return 0;
}

static int take_ack(struct next *n, uint8_t *ack)
{
	uint32_t d;

	if (take_be(n->c, COMBO_ACKS, &d, n->rare & WIRED_RARE_WIDE_ACK ? 4 : 2))
		return -EBADMSG;
	store_be(ack, wired_peer_seq(n->t, n->m) + (uint32_t)unzigzag(d), 4);
	return 0;
}

static int take_stamps(struct next *n, uint8_t *at)
{
	int bytes = n->rare & WIRED_RARE_WIDE_STAMPS ? 4 : 2;
	uint32_t value, reply;

	if (take_be(n->c, COMBO_TCP_STAMPS, &value, bytes) ||
	    take_be(n->c, COMBO_TCP_STAMPS, &reply, bytes))
		return -EBADMSG;
	reply = wired_peer_stamp(n->t, n->m) + (uint32_t)unzigzag(reply);
	store_be(at, load_be32(at) + (uint32_t)unzigzag(value), 4);
	store_be(at + 4, reply, 4);
	return 0;
}

static int take_tcp(struct next *n)
{
	struct wired_template *m = n->m;
	uint8_t *l4 = m->head + m->shape.l4;
	uint32_t v = 0;

	if (n->mask & WIRED_SEQ && take_be(n->c, COMBO_SEQS, &v, 4))
		return -EBADMSG;
	if (n->mask & WIRED_ACK && take_ack(n, l4 + 8))
		return -EBADMSG;
	store_be(l4 + 4, m->next_seq + v, 4);
	if (n->mask & WIRED_FLAGS && take_byte(n->c, COMBO_TCP_FLAGS, &l4[13]))
		return -EBADMSG;
	if (n->mask & WIRED_WINDOW) {
		if (take_be(n->c, COMBO_WINDOWS, &v, 2))
			return -EBADMSG;
		store_be(l4 + 14, v, 2);
	}
	if (n->mask & WIRED_STAMPS && take_stamps(n, l4 + WIRED_STAMPS_AT))
		return -EBADMSG;
	if (take_be(n->c, COMBO_RANDOMS, &v, 2))
		return -EBADMSG;
	store_be(l4 + 16, v, 2);
	return 0;
}

static int take_fields(struct next *n)
{
	int protocol = wired_protocol(&n->m->shape);

	if (protocol == WIRED_RAW)
		return 0;
	if (take_ip(n))
		return -EBADMSG;
	if (protocol >= WIRED_TCP)
		return take_tcp(n);
	if (protocol == WIRED_UDP)
		return take_udp(n);
	return protocol == WIRED_ICMP ? take_icmp(n) : 0;
}

static int next_known(struct next *n, struct combo_frame *f, uint8_t number, uint8_t *room,
		      size_t len)
{
	struct wired_template *m;

	if (number > n->t->count)
		return -EBADMSG;
	m = n->m = &n->t->list[number];
	if (take_bits(n) || take_fields(n))
		return -EBADMSG;
	if (n->rare & WIRED_RARE_BYTES && take_differences(n->c, m->head, m->shape.len, &m->shape))
		return -EBADMSG;
	if (wired_protocol(&m->shape) && !(m->shape.kind & WIRED_V6) && take_ip_checksum(n))
		return -EBADMSG;
	if (take_lengths(n, f))
		return -EBADMSG;
	if (wired_is_tcp(&m->shape))
		m->next_seq = wired_next_seq(&m->shape, m->head);
	return take_tail(n, f, m->head, m->shape.len, room, len);
}

int wired_next(struct combo_reader *r, struct combo_frame *f, uint8_t *room, size_t len)
{
	struct next n = { .r = r, .c = &r->cursor, .t = &r->templates.wired };
	uint8_t flow;

	if (!r->has_flows) {
		if (take_byte(n.c, COMBO_FLOWS, &flow) || !flow || flow > WIRED_TEMPLATES_MAX)
			return -EBADMSG;
		wired_templates_reset(n.t, flow);
		r->has_flows = true;
	}
	if (take_byte(n.c, COMBO_FLOWS, &flow))
		return -EBADMSG;
	if (flow == WIRED_WHOLE || flow == WIRED_DIFFERENCE)
		return next_new(&n, f, flow, room, len);
	return next_known(&n, f, flow, room, len);
}
