// SPDX-License-Identifier: GPL-2.0
/*
 * Forms: see forms.h. In: frames at the sensor, forms and differences at the collector. Always
 * holds: nothing outside a frame's bytes is read or written, whatever its headers say, and the
 * two ends, given the same frames, know the same. Sources: radiotap.org, IEEE 802.11-2020
 * clause 9.
 */
#include "forms.h"

#include <string.h>

#include "bytes.h"

#define PACKET_MASK 0xffffffffffffULL

/* Bits of a radiotap present word, and flags. */
#define RADIOTAP_TSFT 0
#define RADIOTAP_FLAGS 1
#define RADIOTAP_SIGNAL_DBM 5
#define RADIOTAP_LOCK_QUALITY 7
#define RADIOTAP_SIGNAL_DB 12
#define RADIOTAP_AMPDU 20
#define RADIOTAP_TIMESTAMP 22
#define RADIOTAP_KNOWN 28 /* bits of fields of known size, from 0 */
#define RADIOTAP_AGAIN (1u << 29)
#define RADIOTAP_MORE (1u << 31)
#define RADIOTAP_FLAG_DATAPAD 0x20
/* The time stamp: stamp 8, accuracy 2, unit 1, flags 1. */
#define RADIOTAP_STAMP_UNIT 10
#define RADIOTAP_MICROSECONDS 1

static const struct {
	uint8_t align, size;
} radiotap_fields[RADIOTAP_KNOWN] = {
	{ 8, 8 },  { 1, 1 },  { 1, 1 },	 { 2, 4 },  { 1, 2 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 2, 2 },	 { 1, 1 },  { 1, 1 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 1, 1 },	 { 1, 1 },  { 4, 8 }, { 1, 3 }, { 4, 8 },
	{ 2, 12 }, { 8, 12 }, { 2, 12 }, { 2, 12 }, { 2, 6 }, { 1, 1 }, { 2, 4 },
};

/* First two bytes of an 802.11 header. */
#define DOT11_KIND 0x0f /* version and type */
#define DOT11_MANAGEMENT 0x00
#define DOT11_DATA 0x08
#define DOT11_QOS 0x80
#define DOT11_PROBE_RESPONSE 0x50
#define DOT11_BEACON 0x80
#define DOT11_FOUR_ADDRESSES 0x03
#define DOT11_RETRY 0x08
#define DOT11_PROTECTED 0x40
#define DOT11_ORDER 0x80

void forms_reset(struct forms *f)
{
	/* All but the list: `count` says how much of that there is. */
	memset(f, 0, offsetof(struct forms, list));
}

/* ---- where the fields are -------------------------------------------------------------------- */

/* As it lies: for comparing only. */
static uint64_t load_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

static void radiotap_place(struct radiotap_places *r, int bit, uint32_t at)
{
	switch (bit) {
	case RADIOTAP_TSFT:
		r->clock = r->clock ? r->clock : at;
		break;
	case RADIOTAP_FLAGS:
		r->flags = r->flags ? r->flags : at;
		break;
	case RADIOTAP_TIMESTAMP:
		r->stamp = r->stamp ? r->stamp : at;
		break;
	case RADIOTAP_AMPDU:
		r->aggregate = r->aggregate ? r->aggregate : at;
		break;
	case RADIOTAP_SIGNAL_DBM:
	case RADIOTAP_SIGNAL_DB:
	case RADIOTAP_LOCK_QUALITY:
		if (r->signal_count < FORM_SIGNALS)
			r->signals[r->signal_count++] = at;
	}
}

/* The fields of one present word, from `at` on. Returns where they end, `end` where one does not
 * fit or is unknown. */
static uint32_t radiotap_word(struct radiotap_places *r, uint32_t word, uint32_t at, uint32_t end)
{
	for (int bit = 0; bit < 29; bit++) {
		if (!(word >> bit & 1))
			continue;
		if (bit >= RADIOTAP_KNOWN)
			return end;
		at = (at + radiotap_fields[bit].align - 1) & -(uint32_t)radiotap_fields[bit].align;
		if (at + radiotap_fields[bit].size > end)
			return end;
		radiotap_place(r, bit, at);
		at += radiotap_fields[bit].size;
	}
	return at;
}

/* Walks a header whose length has been checked. Returns the bytes of length and present words, 0
 * where they do not fit. */
static uint32_t radiotap_walk(struct radiotap_places *r, const uint8_t *p, uint32_t end)
{
	uint32_t words = 1, at, word;

	memset(r, 0, sizeof(*r));
	r->end = end;
	while (load_le32(p + 4 * words) & RADIOTAP_MORE)
		if (++words > FORM_WORDS_MAX || 4 + 4 * words > end)
			return 0;
	at = 4 + 4 * words;
	for (uint32_t i = 1; i <= words && at < end; i++) {
		word = load_le32(p + 4 * i);
		at = radiotap_word(r, word, at, end);
		if (!(word & RADIOTAP_AGAIN)) /* what follows is not radiotap's own once more */
			break;
	}
	return 4 + 4 * words;
}

/* Returns the places of a frame's fields, which depend on nothing but `head`: the sensor has seen
 * other headers in between than the collector. NULL where it has no radiotap header that fits. */
static const struct radiotap_places *radiotap_find(struct forms *f, const uint8_t *p, uint32_t len)
{
	struct radiotap_layout *l;
	uint32_t end;

	if (len < 8 || p[0] != 0)
		return NULL;
	end = p[2] | p[3] << 8;
	if (end < 8 || end > 255 || end > len)
		return NULL;
	l = &f->layouts[(p[4] ^ p[6] ^ end) % FORM_LAYOUTS];
	/* Present words and length are 8 bytes nearly always. */
	if (l->head_len && load_word(l->head) == load_word(p) &&
	    (l->head_len == 8 || memcmp(l->head, p, l->head_len) == 0))
		return &l->places;
	l->head_len = radiotap_walk(&l->places, p, end);
	memcpy(l->head, p, l->head_len);
	return l->head_len ? &l->places : NULL;
}

static uint32_t mac_header_len(const uint8_t *mac)
{
	uint32_t len = 24;

	if ((mac[0] & DOT11_KIND) == DOT11_DATA) {
		if ((mac[1] & DOT11_FOUR_ADDRESSES) == DOT11_FOUR_ADDRESSES)
			len += 6;
		if (!(mac[0] & DOT11_QOS))
			return len;
		len += 2;
	}
	return mac[1] & DOT11_ORDER ? len + 4 : len; /* HT control */
}

/* Notes sequence, beacon and packet; `at` is where the 802.11 header begins. */
static void mac_fields(struct form *m, const uint8_t *p, uint32_t len, uint32_t at, bool pad)
{
	const uint8_t *mac = p + at;
	uint32_t kind, body;

	if (len - at < 24)
		return;
	kind = mac[0] & DOT11_KIND;
	if (kind != DOT11_MANAGEMENT && kind != DOT11_DATA)
		return;
	m->sequence = at + 22;
	m->retry = !!(mac[1] & DOT11_RETRY);
	body = mac_header_len(mac);
	if (pad)
		body = (body + 3) & ~3u;
	if (len - at < body + 8)
		return;
	if (mac[0] == DOT11_BEACON || mac[0] == DOT11_PROBE_RESPONSE)
		m->beacon = at + body;
	else if (mac[1] & DOT11_PROTECTED && mac[body + 3] & 0x20 && mac[body + 2] == 0)
		m->packet =
			at + body; /* a key id with ExtIV behind a reserved byte: not WEP, TKIP */
}

/* The upper bytes of an address name the vendor: the lower four tell stations apart. */
static uint8_t slot(uint32_t a, uint32_t b)
{
	return ((a ^ (b << 16 | b >> 16)) * 0x9e3779b1u) >> 25;
}

/* Whose frame it is. Numbers run a transmitter, those of QoS data a pair and a traffic id. */
static void mac_slots(struct form *m, const uint8_t *mac, uint32_t len)
{
	uint32_t receiver, transmitter, tid;

	m->station = m->counter = m->pair = 0;
	if (len < 10)
		return;
	receiver = load_le32(mac + 6);
	m->station = slot(receiver, 0); /* acknowledgements have no other address */
	if (len < 16)
		return;
	transmitter = load_le32(mac + 12);
	m->station = m->counter = slot(transmitter, 0);
	m->pair = slot(transmitter, receiver);
	tid = (mac[1] & DOT11_FOUR_ADDRESSES) == DOT11_FOUR_ADDRESSES ? 30 : 24;
	if ((mac[0] & (DOT11_KIND | DOT11_QOS)) == (DOT11_DATA | DOT11_QOS) && tid < len)
		m->counter = slot(transmitter + (mac[tid] & 0x0f), receiver);
}

/* Fills in f->list[0] where the fields are. Returns where the 802.11 header begins. */
static uint32_t form_locate(struct forms *f, const uint8_t *bytes, uint32_t len, uint16_t linktype)
{
	static const struct radiotap_places none;
	const struct radiotap_places *r = &none;
	struct form *m = &f->list[0];
	bool pad;

	if (linktype == LINKTYPE_RADIOTAP)
		r = radiotap_find(f, bytes, len);
	m->radio = r ? *r : none;
	m->sequence = m->beacon = m->packet = 0;
	m->retry = 0;
	if (!r)
		return len;
	if (r->stamp && (bytes[r->stamp + RADIOTAP_STAMP_UNIT] & 0x0f) != RADIOTAP_MICROSECONDS)
		m->radio.stamp = 0;
	pad = r->flags && bytes[r->flags] & RADIOTAP_FLAG_DATAPAD;
	mac_fields(m, bytes, len, r->end, pad);
	return r->end;
}

/* Makes a form of the located fields in f->list[0], which stays the form where there is no more
 * room. */
static struct form *form_new(struct forms *f, const uint8_t *bytes, uint32_t len, uint32_t mac,
			     uint16_t linktype)
{
	struct form *m = &f->list[0];

	mac_slots(m, bytes + mac, len - mac);
	m->bytes = bytes;
	m->len = len;
	m->linktype = linktype;
	m->cut = 0;
	m->ahead = f->ahead;
	if (f->count == FORMS_MAX)
		return m;
	f->list[++f->count] = *m;
	return &f->list[f->count];
}

/* ---- the sensor: find ------------------------------------------------------------------------ */

static void fields_take(const struct form *m, struct form_fields *d, uint8_t *frame)
{
	uint8_t *p;

	if (m->radio.clock) {
		p = frame + m->radio.clock;
		d->clock = load_le64(p);
		memset(p, 0, 8);
	}
	if (m->radio.stamp) {
		p = frame + m->radio.stamp;
		d->stamp = load_le64(p);
		memset(p, 0, 8);
	}
	if (m->radio.aggregate) {
		p = frame + m->radio.aggregate;
		d->aggregate = load_le32(p);
		memset(p, 0, 4);
	}
	for (int i = 0; i < m->radio.signal_count; i++) {
		p = frame + m->radio.signals[i];
		d->signals[i] = *p;
		*p = 0;
	}
	if (m->sequence) {
		p = frame + m->sequence;
		d->sequence = p[0] | p[1] << 8;
		memset(p, 0, 2);
	}
	if (m->beacon) {
		p = frame + m->beacon;
		d->beacon = load_le64(p);
		memset(p, 0, 8);
	}
	if (m->packet) { /* bytes 0, 1, 4 to 7 of the cipher header */
		p = frame + m->packet;
		d->packet = p[0] | p[1] << 8 | (uint64_t)load_le32(p + 4) << 16;
		memset(p, 0, 2);
		memset(p + 4, 0, 4);
	}
}

static uint64_t mix(uint64_t h, uint64_t a, uint64_t b)
{
	h = (h ^ a ^ (b << 23 | b >> 41)) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

/* Of this machine only, never on the wire: words are taken as they lie. The last ones overlap. Who
 * sends frames whose hashes collide costs us FORMS_MAX comparisons a frame at most. */
static uint32_t form_hash(const uint8_t *p, uint32_t len)
{
	const uint8_t *end = p + len;
	uint64_t h = len;

	if (len < 8) {
		while (p < end)
			h = mix(h, *p++, 0);
		return h;
	}
	for (; end - p > 16; p += 16)
		h = mix(h, load_word(p), load_word(p + 8));
	if (len >= 16)
		p = end - 16;
	return mix(h, load_word(p), load_word(end - 8));
}

struct form *forms_find(struct forms *f, struct form_fields *fields, uint8_t *frame, uint32_t len,
			uint16_t linktype, bool *is_new)
{
	uint32_t mac = form_locate(f, frame, len, linktype), hash;
	struct form *m;
	uint8_t *bucket;

	fields_take(&f->list[0], fields, frame);
	hash = form_hash(frame, len);
	bucket = &f->buckets[hash % FORM_BUCKETS];
	*is_new = false;
	for (uint32_t i = *bucket; i; i = m->next) {
		m = &f->list[i];
		if (m->hash == hash && m->len == len && m->linktype == linktype &&
		    memcmp(m->bytes, frame, len) == 0)
			return m;
	}
	*is_new = true;
	m = form_new(f, frame, len, mac, linktype);
	if (m != &f->list[0]) {
		m->hash = hash;
		m->next = *bucket;
		*bucket = f->count;
	}
	return m;
}

/* ---- the collector: add, get, fill ----------------------------------------------------------- */

struct form *forms_add(struct forms *f, const uint8_t *bytes, uint32_t len, uint16_t linktype)
{
	return form_new(f, bytes, len, form_locate(f, bytes, len, linktype), linktype);
}

struct form *forms_get(struct forms *f, uint32_t n)
{
	return n && n <= f->count ? &f->list[n] : NULL;
}

void forms_fill(const struct form *m, const struct form_fields *fields, uint8_t *frame)
{
	memcpy(frame, m->bytes, m->len);
	if (m->radio.clock)
		store_le(frame + m->radio.clock, fields->clock, 8);
	if (m->radio.stamp)
		store_le(frame + m->radio.stamp, fields->stamp, 8);
	if (m->radio.aggregate)
		store_le(frame + m->radio.aggregate, fields->aggregate, 4);
	for (int i = 0; i < m->radio.signal_count; i++)
		frame[m->radio.signals[i]] = fields->signals[i];
	if (m->sequence)
		store_le(frame + m->sequence, fields->sequence, 2);
	if (m->beacon)
		store_le(frame + m->beacon, fields->beacon, 8);
	if (m->packet) {
		store_le(frame + m->packet, fields->packet, 2);
		store_le(frame + m->packet + 4, fields->packet >> 16, 4);
	}
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

void forms_differ(struct forms *f, struct form *m, struct form_fields *d, uint64_t time_us)
{
	uint64_t now = m->radio.clock ? d->clock : time_us, ahead = now - time_us, cut = d->cut;

	d->cut -= m->cut;
	m->cut = cut;
	if (m->radio.clock) {
		d->clock = zigzag(ahead - m->ahead);
		m->ahead = f->ahead = ahead;
	}
	if (m->radio.stamp) {
		ahead = d->stamp - time_us;
		d->stamp = zigzag(ahead - f->stamp_ahead);
		f->stamp_ahead = ahead;
	}
	if (m->radio.aggregate) {
		uint32_t aggregate = d->aggregate;

		d->aggregate = zigzag((int32_t)(aggregate - f->aggregate));
		f->aggregate = aggregate;
	}
	for (int i = 0; i < m->radio.signal_count; i++) {
		uint8_t *last = &f->signals[m->station][i], is = d->signals[i];

		d->signals[i] = is - *last;
		*last = is;
	}
	if (m->sequence) {
		uint16_t *last = &f->sequences[m->counter], is = d->sequence;

		d->sequence = sequence_differ(is, *last, 1 - m->retry);
		*last = is;
	}
	if (m->beacon) {
		uint64_t *last = &f->beacons[m->station], is = d->beacon - now;

		d->beacon = zigzag(is - *last);
		*last = is;
	}
	if (m->packet) {
		uint64_t *last = &f->packets[m->pair], is = d->packet;

		d->packet = packet_differ(is, *last);
		*last = is;
	}
}

void forms_sum(struct forms *f, struct form *m, struct form_fields *d, uint64_t time_us)
{
	uint64_t now = time_us;

	d->cut = m->cut += d->cut;
	if (m->radio.clock) {
		m->ahead = f->ahead = m->ahead + unzigzag(d->clock);
		now = d->clock = time_us + m->ahead;
	}
	if (m->radio.stamp) {
		f->stamp_ahead += unzigzag(d->stamp);
		d->stamp = time_us + f->stamp_ahead;
	}
	if (m->radio.aggregate) {
		f->aggregate += unzigzag(d->aggregate);
		d->aggregate = f->aggregate;
	}
	for (int i = 0; i < m->radio.signal_count; i++)
		d->signals[i] = f->signals[m->station][i] += d->signals[i];
	if (m->sequence) {
		uint16_t *last = &f->sequences[m->counter];

		d->sequence = *last = sequence_sum(d->sequence, *last, 1 - m->retry);
	}
	if (m->beacon) {
		uint64_t *last = &f->beacons[m->station];

		*last += unzigzag(d->beacon);
		d->beacon = now + *last;
	}
	if (m->packet) {
		uint64_t *last = &f->packets[m->pair];

		d->packet = *last = (*last + 1 + unzigzag(d->packet)) & PACKET_MASK;
	}
}
