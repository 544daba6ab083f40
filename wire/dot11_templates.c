// SPDX-License-Identifier: GPL-2.0
/*
 * Dot11 templates: see dot11_templates.h. In: frames at the sensor, forms and differences at the
 * collector. Always holds: after the same frames, both ends have the same state.
 */
#include "dot11_templates.h"

#include <string.h>

#include "compare.h"

#define PACKET_MASK 0xffffffffffffULL

void dot11_templates_reset(struct dot11_templates *f, uint32_t max)
{
	/* Not the list: `count` is its length. */
	memset(f, 0, offsetof(struct dot11_templates, list));
	f->max = max;
}

/* Makes a form of the located fields in f->list[0]. If there is no more room, list[0] is the
 * form. */
static struct dot11_template *dot11_template_new(struct dot11_templates *f, const uint8_t *bytes,
						 uint32_t len, uint32_t mac, uint16_t linktype)
{
	struct dot11_template *m = &f->list[0];

	fields_slots(&m->at, bytes + mac, len - mac);
	m->bytes = bytes;
	m->len = len;
	m->linktype = linktype;
	m->cut = 0;
	m->ahead = f->ahead;
	if (f->count == f->max)
		return m;
	f->list[++f->count] = *m;
	return &f->list[f->count];
}

/* ---- the sensor: find ------------------------------------------------------------------------ */

typedef unsigned long word; /* a register of this machine */
#define WORD_LEN sizeof(word)

static word load_own(const uint8_t *p)
{
	word w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static word mix(word h, word a, word b)
{
	h = (h ^ a ^ (b << 23 | b >> (8 * WORD_LEN - 23))) * (word)0x9e3779b97f4a7c15ULL;
	return h ^ h >> 4 * WORD_LEN;
}

/* Only for this machine, never on the wire: words have its byte order. The last words overlap.
 * Frames with colliding hashes cost at most DOT11_TEMPLATES_MAX comparisons per frame. */
static uint32_t dot11_template_hash(const uint8_t *p, uint32_t len)
{
	const uint8_t *end = p + len;
	word h = len;

	if (len < WORD_LEN) {
		while (p < end)
			h = mix(h, *p++, 0);
		return h;
	}
	for (; end - p > (ptrdiff_t)(2 * WORD_LEN); p += 2 * WORD_LEN)
		h = mix(h, load_own(p), load_own(p + WORD_LEN));
	if (len >= 2 * WORD_LEN)
		p = end - 2 * WORD_LEN;
	return mix(h, load_own(p), load_own(end - WORD_LEN));
}

struct dot11_template *dot11_templates_find(struct dot11_templates *f, struct fields *fields,
					    uint8_t *frame, uint32_t len, uint16_t linktype,
					    bool *is_new)
{
	uint32_t mac = fields_locate(&f->list[0].at, &f->layouts, frame, len, linktype), hash;
	struct dot11_template *m;
	uint8_t *bucket;

	fields_take(&f->list[0].at, fields, frame);
	hash = dot11_template_hash(frame, len);
	bucket = &f->buckets[hash % DOT11_TEMPLATES_BUCKETS];
	*is_new = false;
	for (uint32_t i = *bucket; i; i = m->next) {
		m = &f->list[i];
		if (m->hash == hash && m->len == len && m->linktype == linktype &&
		    memcmp(m->bytes, frame, len) == 0)
			return m;
	}
	*is_new = true;
	m = dot11_template_new(f, frame, len, mac, linktype);
	if (m != &f->list[0]) {
		m->hash = hash;
		m->next = *bucket;
		*bucket = f->count;
	}
	return m;
}

/* ---- the sensor: differences ----------------------------------------------------------------- */

static bool is_alike(const struct dot11_templates *f, uint32_t n, const struct dot11_template *m)
{
	return n && f->list[n].len == m->len && f->list[n].linktype == m->linktype;
}

/* Most of a station's frames of one length differ in few bytes. */
static const struct dot11_template *find_alike(struct dot11_templates *f,
					       const struct dot11_template *m)
{
	uint8_t *station = &f->stations[(2 * m->at.station + 5 * m->len) % DOT11_TEMPLATES_LASTS];
	uint8_t *length = &f->lengths[m->len % DOT11_TEMPLATES_LASTS];
	uint32_t n = is_alike(f, *station, m) ? *station : *length;

	if (m != f->list)
		*station = *length = dot11_templates_number(f, m);
	return is_alike(f, n, m) ? &f->list[n] : NULL;
}

/* Writes a byte of bits for the eight bytes from `at` on if some of them differ. Returns how many.
 */
static uint32_t put_8(uint8_t **bits, uint64_t *groups, uint32_t at, uint64_t differ)
{
	uint64_t nonzero;

	if (!differ)
		return 0;
	nonzero = nonzero_bytes(differ);
	*groups |= 1ULL << at / 8;
	*(*bits)++ = gather_bits(nonzero);
	return sum_bytes(nonzero);
}

/* Writes bits for the bytes that differ. Returns the end, or NULL if more than a quarter of them
 * differ: then whole forms compress better. Encrypted bytes, if there are any, are at the end. */
static uint8_t *put_bits(uint8_t *out, const uint8_t *a, const uint8_t *b, uint32_t len)
{
	uint64_t groups = 0, last = differ_8(a + len - 8, b + len - 8);
	uint8_t *bits = out + (len + 63) / 64;
	uint32_t changed = 0, at = 0;

	if (nonzero_bytes(last) == nonzero_bytes(UINT64_MAX))
		return NULL;
	for (; at + 8 <= len && changed <= len / 4; at += 8)
		changed += put_8(&bits, &groups, at, differ_8(a + at, b + at));
	if (changed <= len / 4 && at < len)
		changed += put_8(&bits, &groups, at, last >> 8 * (at + 8 - len));
	store_le(out, groups, (len + 63) / 64);
	return changed <= len / 4 ? bits : NULL;
}

/* Moves the bytes that differ to the front. Returns their number. */
static uint32_t pack(uint8_t *bytes, const uint8_t *bits, uint32_t len)
{
	const uint8_t *groups = bits;
	uint8_t *out = bytes;

	bits += (len + 63) / 64;
	for (uint32_t at = 0; at < len; at += 64)
		for (uint32_t left = *groups++; left; left &= left - 1) {
			const uint8_t *eight = bytes + at + 8 * __builtin_ctz(left);

			for (uint32_t changed = *bits++; changed; changed &= changed - 1)
				*out++ = eight[__builtin_ctz(changed)];
		}
	return out - bytes;
}

/* A form without a number needs no bytes later. */
static bool keep(struct dot11_templates *f, struct dot11_template *m)
{
	if (m == f->list)
		return true;
	if (m->len > sizeof(f->room) - f->room_len)
		return false;
	m->bytes = memcpy(f->room + f->room_len, m->bytes, m->len);
	f->room_len += m->len;
	return true;
}

bool dot11_templates_shrink(struct dot11_templates *f, struct dot11_template *m, uint8_t *bytes,
			    struct dot11_shrunk *s, uint8_t *bits)
{
	uint32_t last = m == f->list ? f->count : f->count - 1;
	const struct dot11_template *base = m->len < 8 ? NULL : find_alike(f, m);
	uint8_t *end = base ? put_bits(bits, base->bytes, bytes, m->len) : NULL;

	if (!end || !keep(f, m))
		return false;
	s->back = last - dot11_templates_number(f, base);
	s->bits_len = end - bits;
	s->bytes_len = pack(bytes, bits, m->len);
	return true;
}

void dot11_templates_forget(struct dot11_templates *f, struct dot11_template *m)
{
	if (m == f->list)
		return;
	f->buckets[m->hash % DOT11_TEMPLATES_BUCKETS] = m->next;
	m->len = 0; /* so that no other form is like it */
}

/* ---- the collector: add, get, fill ----------------------------------------------------------- */

struct dot11_template *dot11_templates_add(struct dot11_templates *f, const uint8_t *bytes,
					   uint32_t len, uint16_t linktype)
{
	uint32_t mac = fields_locate(&f->list[0].at, &f->layouts, bytes, len, linktype);

	return dot11_template_new(f, bytes, len, mac, linktype);
}

struct dot11_template *dot11_templates_get(struct dot11_templates *f, uint32_t n)
{
	return n && n <= f->count ? &f->list[n] : NULL;
}

void dot11_templates_copy(const struct dot11_template *m, uint8_t *bytes)
{
	struct fields unused;

	memcpy(bytes, m->bytes, m->len);
	fields_take(&m->at, &unused, bytes);
}

void dot11_templates_fill(const struct dot11_template *m, const struct fields *fields,
			  uint8_t *frame)
{
	if (frame != m->bytes)
		memcpy(frame, m->bytes, m->len);
	fields_put(&m->at, fields, frame);
}

/* ---- both: what is expected ------------------------------------------------------------------ */

/* Sequence numbers are numbers of 12 bits above a fragment of 4; differences have the fragment on
 * top, so that they are small. */
static uint16_t sequence_differ(uint16_t is, uint16_t last, int step)
{
	int d = ((is >> 4) - (last >> 4) - step) & 0xfff;

	d = d < 0x800 ? d << 1 : (0x1000 - d) * 2 - 1;
	return (is & 0xf) << 12 | d;
}

static uint16_t sequence_sum(uint16_t d, uint16_t last, int step)
{
	int n = d & 0xfff;

	n = n & 1 ? -((n + 1) >> 1) : n >> 1;
	return ((n + (last >> 4) + step) & 0xfff) << 4 | d >> 12;
}

static uint64_t packet_differ(uint64_t is, uint64_t last)
{
	uint64_t d = is - last - 1;

	return zigzag((int64_t)(d << 16) >> 16);
}

void dot11_templates_differ(struct dot11_templates *f, struct dot11_template *m, struct fields *d,
			    uint64_t time_us)
{
	uint64_t now = m->at.radio.clock ? d->clock : time_us, ahead = now - time_us, cut = d->cut;

	d->cut -= m->cut;
	m->cut = cut;
	if (m->at.radio.clock) {
		d->clock = zigzag(ahead - m->ahead);
		m->ahead = f->ahead = ahead;
	}
	if (m->at.radio.stamp) {
		ahead = d->stamp - time_us;
		d->stamp = zigzag(ahead - f->stamp_ahead);
		f->stamp_ahead = ahead;
	}
	if (m->at.radio.aggregate) {
		uint32_t aggregate = d->aggregate;

		d->aggregate = zigzag((int32_t)(aggregate - f->aggregate));
		f->aggregate = aggregate;
	}
	for (int i = 0; i < m->at.radio.signal_count; i++) {
		uint8_t *last = &f->signals[m->at.station][i], is = d->signals[i];

		d->signals[i] = is - *last;
		*last = is;
	}
	if (m->at.sequence) {
		uint16_t *last = &f->sequences[m->at.counter], is = d->sequence;

		d->sequence = sequence_differ(is, *last, 1 - m->at.retry);
		*last = is;
	}
	if (m->at.beacon) {
		uint64_t *last = &f->beacons[m->at.station], is = d->beacon - now;

		d->beacon = zigzag(is - *last);
		*last = is;
	}
	if (m->at.packet) {
		uint64_t *last = &f->packets[m->at.pair], is = d->packet;

		d->packet = packet_differ(is, *last);
		*last = is;
	}
}

void dot11_templates_sum(struct dot11_templates *f, struct dot11_template *m, struct fields *d,
			 uint64_t time_us)
{
	uint64_t now = time_us;

	d->cut = m->cut += d->cut;
	if (m->at.radio.clock) {
		m->ahead = f->ahead = m->ahead + unzigzag(d->clock);
		now = d->clock = time_us + m->ahead;
	}
	if (m->at.radio.stamp) {
		f->stamp_ahead += unzigzag(d->stamp);
		d->stamp = time_us + f->stamp_ahead;
	}
	if (m->at.radio.aggregate) {
		f->aggregate += unzigzag(d->aggregate);
		d->aggregate = f->aggregate;
	}
	for (int i = 0; i < m->at.radio.signal_count; i++)
		d->signals[i] = f->signals[m->at.station][i] += d->signals[i];
	if (m->at.sequence) {
		uint16_t *last = &f->sequences[m->at.counter];

		d->sequence = *last = sequence_sum(d->sequence, *last, 1 - m->at.retry);
	}
	if (m->at.beacon) {
		uint64_t *last = &f->beacons[m->at.station];

		*last += unzigzag(d->beacon);
		d->beacon = now + *last;
	}
	if (m->at.packet) {
		uint64_t *last = &f->packets[m->at.pair];

		d->packet = *last = (*last + 1 + unzigzag(d->packet)) & PACKET_MASK;
	}
}
