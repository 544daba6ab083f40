// SPDX-License-Identifier: GPL-2.0
/* Capture headers of 802.11: see line_radio.h. */
#include "line_radio.h"

#include <saluki/linktype.h>

#include "bpf/view_radiotap.h"
#include "wire/channel.h"

#define XCHANNEL 18	  /* radiotap's bit: flags 4, frequency 2, number 1, power 1 */
#define PRISM_ITEMS 24	  /* where they begin: after the code, the length and the device's name */
#define PRISM_ITEM_LEN 12 /* identifier 4, status 2, length 2, value 4 */
#define AVS_DBM 2	  /* the unit of its signal: dBm */
#define PPI_COMMON 2	  /* the field 802.11-Common */
#define PPI_FIELDS_MAX 16
#define CHANNEL_NUMBER_MAX 196

/* Returns the frequency of the field XChannel, or 0. BSD's drivers write this field instead of the
 * channel, and modules do not see it. Fields before XChannel, by bit: */
static unsigned int xchannel_mhz(struct frame *f, unsigned int len)
{
	static const struct {
		unsigned char size, align;
	} before[] = { { 8, 8 }, { 1, 1 }, { 1, 1 }, { 4, 2 }, { 2, 1 }, { 1, 1 },
		       { 1, 1 }, { 2, 2 }, { 2, 2 }, { 2, 2 }, { 1, 1 }, { 1, 1 },
		       { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, { 1, 1 }, { 1, 1 } };
	unsigned int present = parse_le32(f->data + 4), off = radiotap_fields(f, len, present);
	const unsigned char *p;

	if (!off || !(present & 1u << XCHANNEL))
		return 0;
	for (int i = 0; i < XCHANNEL; i++)
		if (present & 1u << i)
			off = ((off + before[i].align - 1) & ~(before[i].align - 1u)) +
			      before[i].size;
	off = (off + 3) & ~3u;
	p = off + 8 <= len ? frame_at(f, off + 4, 2) : NULL;
	return p ? parse_le16(p) : 0;
}

static bool read_radiotap(struct radio *r, struct frame *f)
{
	struct frame_view v = { 0 };

	r->len = radiotap_len(f);
	if (!r->len || !frame_at(f, 0, r->len))
		return false;
	view_radiotap(&v, f, r->len);
	r->mhz = v.mhz ?: xchannel_mhz(f, r->len);
	r->signal_dbm = v.signal_dbm;
	r->flags = f->flags;
	return true;
}

/* Drivers give a channel's number or its frequency. */
static unsigned int number_or_mhz(unsigned int value)
{
	return value <= CHANNEL_NUMBER_MAX ? channel_mhz(value) : value;
}

/* In the writer's byte order: the code, 0x44 or 0x41, tells it. The identifiers' values are in the
 * bits from 12 on or from 16 on. */
static bool read_prism(struct radio *r, struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	bool big;

	if (!p)
		return false;
	big = p[0] == 0;
	r->len = big ? parse_be32(p + 4) : parse_le32(p + 4);
	for (unsigned int off = PRISM_ITEMS; off + PRISM_ITEM_LEN <= r->len;
	     off += PRISM_ITEM_LEN) {
		unsigned int id, value, which;

		p = frame_at(f, off, PRISM_ITEM_LEN);
		if (!p)
			return false;
		id = big ? parse_be32(p) : parse_le32(p);
		value = big ? parse_be32(p + 8) : parse_le32(p + 8);
		which = id & 0xffff0000 ? id >> 16 : id >> 12;
		if (p[4] || p[5])
			continue; /* the driver did not supply it */
		if (which == 3)
			r->mhz = number_or_mhz(value);
		else if (which == 6 && (int)value < 0)
			r->signal_dbm = (int)value;
	}
	return r->len >= 8 && frame_at(f, 0, r->len);
}

static bool read_avs(struct radio *r, struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 52);

	if (!p)
		return false;
	r->len = parse_be32(p + 4);
	r->mhz = number_or_mhz(parse_be32(p + 28));
	if (parse_be32(p + 44) == AVS_DBM)
		r->signal_dbm = (int)parse_be32(p + 48);
	return r->len >= 52 && frame_at(f, 0, r->len);
}

/* Prism interfaces deliver this header too (bpf/parse_dot11.h). */
static bool is_avs(struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 4);

	return p && (parse_be32(p) & 0xfffff000u) == 0x80211000u;
}

/* Fields: type 2, length 2, content. Everything is little-endian. */
static bool read_ppi(struct radio *r, struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	unsigned int off = 8;

	if (!p || p[0] != 0 || parse_le32(p + 4) != LINKTYPE_IEEE802_11)
		return false;
	r->len = parse_le16(p + 2);
	if (r->len < 8 || !frame_at(f, 0, r->len))
		return false;
	for (int i = 0; i < PPI_FIELDS_MAX && off + 4 <= r->len; i++) {
		unsigned int len;

		p = frame_at(f, off, 4);
		len = parse_le16(p + 2);
		if (parse_le16(p) == PPI_COMMON && len == 20 && off + 24 <= r->len) {
			unsigned int flags = parse_le16(p + 12);

			r->mhz = parse_le16(p + 16);
			r->signal_dbm = (signed char)p[22];
			r->flags = (flags & 1 ? RADIOTAP_FCS : 0) |
				   (flags & 4 ? RADIOTAP_BAD_FCS : 0);
		}
		off += 4 + len;
	}
	return true;
}

bool radio_read(struct radio *r, struct frame *f, int linktype)
{
	*r = (struct radio){ 0 };
	switch (linktype) {
	case LINKTYPE_RADIOTAP:
		return read_radiotap(r, f);
	case LINKTYPE_PRISM:
		return is_avs(f) ? read_avs(r, f) : read_prism(r, f);
	case LINKTYPE_AVS:
		return read_avs(r, f);
	case LINKTYPE_PPI:
		return read_ppi(r, f);
	default:
		return true;
	}
}

void radio_line(struct text *t, const struct radio *r)
{
	struct radio_channel c = { .mhz = r->mhz, .width = 20, .center = r->mhz };
	char name[CHANNEL_TEXT_LEN];

	if (r->mhz && channel_number(r->mhz)) {
		channel_text(name, &c);
		text_add(t, "ch %s ", name);
	} else if (r->mhz) {
		text_add(t, "%u MHz ", r->mhz);
	}
	if (r->signal_dbm)
		text_add(t, "%ddBm ", r->signal_dbm);
}
