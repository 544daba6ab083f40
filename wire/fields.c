// SPDX-License-Identifier: GPL-2.0
/*
 * Fields: see fields.h. In: a frame. Out: the offsets of its clocks and counters, and their values,
 * moved out or in. Always holds: no byte outside the frame is read or written, however malformed
 * its headers are. Sources: radiotap.org, IEEE 802.11-2020 clause 9.
 */
#include "fields.h"

#include <string.h>

#include <saluki/linktype.h>

#include "bytes.h"

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
		if (r->signal_count < FIELDS_SIGNALS)
			r->signals[r->signal_count++] = at;
	}
}

/* Walks the fields of one present word, from `at` on. Returns their end, or `end` if one does not
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

/* Walks a header whose length was checked. Returns the bytes up to the last present word, or 0 if
 * they do not fit. */
static uint32_t radiotap_walk(struct radiotap_places *r, const uint8_t *p, uint32_t end)
{
	uint32_t words = 1, at, word;

	memset(r, 0, sizeof(*r));
	r->end = end;
	while (load_le32(p + 4 * words) & RADIOTAP_MORE)
		if (++words > FIELDS_WORDS_MAX || 4 + 4 * words > end)
			return 0;
	at = 4 + 4 * words;
	for (uint32_t i = 1; i <= words && at < end; i++) {
		word = load_le32(p + 4 * i);
		at = radiotap_word(r, word, at, end);
		if (!(word & RADIOTAP_AGAIN)) /* the next namespace is not radiotap's */
			break;
	}
	return 4 + 4 * words;
}

/* Returns the offsets of the radiotap fields, or NULL without a valid radiotap header. They depend
 * only on `head`, as sensor and collector may have seen different headers before. */
static const struct radiotap_places *radiotap_find(struct radiotap_layouts *s, const uint8_t *p,
						   uint32_t len)
{
	struct radiotap_layout *l;
	uint32_t end;

	if (len < 8 || p[0] != 0)
		return NULL;
	end = p[2] | p[3] << 8;
	if (end < 8 || end > 255 || end > len)
		return NULL;
	l = &s->list[(p[4] ^ p[6] ^ end) % FIELDS_LAYOUTS];
	/* Almost always the present words end after 8 bytes. */
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

/* Notes the offsets of sequence, beacon and packet. `at`: offset of the 802.11 header. */
static void mac_fields(struct places *m, const uint8_t *p, uint32_t len, uint32_t at, bool pad)
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
		m->packet = at + body; /* key id with ExtIV after a reserved byte: not WEP, TKIP */
}

/* An address's upper bytes name the vendor. The lower four differ between stations. */
static uint8_t slot(uint32_t a, uint32_t b)
{
	return ((a ^ (b << 16 | b >> 16)) * 0x9e3779b1u) >> 25;
}

/* Finds the slots. Sequence numbers count per transmitter, those of QoS data per pair and traffic
 * id. */
void fields_slots(struct places *m, const uint8_t *mac, uint32_t len)
{
	uint32_t receiver, transmitter, tid;

	m->station = m->counter = m->pair = 0;
	if (len < 10)
		return;
	receiver = load_le32(mac + 6);
	m->station = slot(receiver, 0); /* an ACK has no other address */
	if (len < 16)
		return;
	transmitter = load_le32(mac + 12);
	m->station = m->counter = slot(transmitter, 0);
	m->pair = slot(transmitter, receiver);
	tid = (mac[1] & DOT11_FOUR_ADDRESSES) == DOT11_FOUR_ADDRESSES ? 30 : 24;
	if ((mac[0] & (DOT11_KIND | DOT11_QOS)) == (DOT11_DATA | DOT11_QOS) && tid < len)
		m->counter = slot(transmitter + (mac[tid] & 0x0f), receiver);
}

uint32_t fields_locate(struct places *m, struct radiotap_layouts *layouts, const uint8_t *bytes,
		       uint32_t len, uint16_t linktype)
{
	static const struct radiotap_places none;
	const struct radiotap_places *r = &none;
	bool pad;

	if (linktype == LINKTYPE_RADIOTAP)
		r = radiotap_find(layouts, bytes, len);
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

/* ---- the fields themselves ------------------------------------------------------------------- */

void fields_take(const struct places *m, struct fields *d, uint8_t *frame)
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

void fields_put(const struct places *m, const struct fields *fields, uint8_t *frame)
{
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
