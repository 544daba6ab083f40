// SPDX-License-Identifier: GPL-2.0
/* 802.11: see dot11.h. */
#include "dot11.h"

#include <stddef.h>

#include "bpf/parse_dot11.h"
#include "dot11_body.h"

#define QOS_AMSDU 0x80
#define DURATION 0x7fff

enum { MANAGEMENT, CONTROL, DATA, EXTENSION };
enum {
	TRIGGER = 2,
	TACK,
	BEAMFORMING_POLL,
	NDP_ANNOUNCEMENT,
	CONTROL_EXTENSION,
	WRAPPER,
	BLOCK_ACK_REQUEST,
	BLOCK_ACK,
	PS_POLL,
	RTS,
	CF_END = 14,
	CF_END_ACK
};
enum { DATA_NULL = 4, DATA_QOS = 8 };		      /* bits of the subtype */
enum { DMG_BEACON, S1G_BEACON };		      /* extension frames */
enum { DMG_POLL = 2, DMG_DTS = 6, DMG_SSW_ACK = 10 }; /* control extension, in the flags */

static void dissect_sequence(struct dissection *d, const struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off, 2);

	if (!p)
		return;
	d->sequence = parse_le16(p) >> 4;
	d->fragment = p[0] & 15;
	d->has |= DISSECT_SEQUENCE;
}

static void dissect_management(struct dissection *d, const struct frame *f, unsigned int off)
{
	d->destination = d->receiver;
	d->source = d->transmitter = frame_at(f, off + 10, 6);
	d->bssid = frame_at(f, off + 16, 6);
	dissect_sequence(d, f, off + 22);
}

/* Address 2 of a control frame is at `off`. */
static void dissect_control(struct dissection *d, const struct frame *f, unsigned int subtype,
			    unsigned int extension, unsigned int off)
{
	switch (subtype) {
	case CONTROL_EXTENSION:
		if (extension < DMG_POLL || extension > DMG_SSW_ACK || extension == DMG_DTS)
			return;
		break;
	case TRIGGER:
	case TACK:
	case BEAMFORMING_POLL:
	case NDP_ANNOUNCEMENT:
	case BLOCK_ACK_REQUEST:
	case BLOCK_ACK:
	case RTS:
	case CF_END_ACK:
		break;
	case PS_POLL:
		d->bssid = d->receiver;
		break;
	case CF_END:
		d->bssid = frame_at(f, off, 6);
		return;
	default: /* CTS, acknowledgement, unknown */
		return;
	}
	d->transmitter = frame_at(f, off, 6);
}

/* The frame inside a wrapper has its frame control and HT control between addresses 1 and 2. */
static void dissect_wrapped(struct dissection *d, const struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off + 10, 2);

	if (p && (p[0] >> 2 & 3) == CONTROL)
		dissect_control(d, f, p[0] >> 4, p[1] & 15, off + 16);
}

/* How a data frame's body is packed. */
enum packing { UNKNOWN, MSDU, AMSDU };

/* Addresses by the bits to and from the distribution system (table 9-30). */
static void data_addresses(struct dissection *d, const struct frame *f, unsigned int off,
			   enum packing packing)
{
	const uint8_t *third = frame_at(f, off + 16, 6);

	d->transmitter = frame_at(f, off + 10, 6);
	switch (d->flags & (TO_DS | FROM_DS)) {
	case 0:
		d->destination = d->receiver;
		d->source = d->transmitter;
		d->bssid = third;
		break;
	case FROM_DS:
		d->destination = d->receiver;
		d->bssid = d->transmitter;
		d->source = packing == MSDU ? third : NULL;
		break;
	case TO_DS:
		d->bssid = d->receiver;
		d->source = d->transmitter;
		d->destination = packing == MSDU ? third : NULL;
		break;
	default:
		if (packing == MSDU) {
			d->destination = third;
			d->source = frame_at(f, off + 24, 6);
		} else if (packing == AMSDU) {
			d->bssid = third;
			d->second_bssid = frame_at(f, off + 24, 6);
		}
	}
}

/* Returns the number of padding bytes after the header. */
static unsigned int dissect_data(struct dissection *d, const struct frame *f, const struct radio *r,
				 unsigned int off)
{
	unsigned int len = HEADER_LEN, qos = 0, padding;
	enum packing packing = MSDU;
	const unsigned char *p;

	if ((d->flags & (TO_DS | FROM_DS)) == (TO_DS | FROM_DS))
		len += 6;
	if (d->subtype & DATA_QOS) {
		p = frame_at(f, off + len, 2);
		qos = p ? parse_le16(p) : 0;
		if (!(d->subtype & DATA_NULL))
			packing = !p ? UNKNOWN : qos & QOS_AMSDU ? AMSDU : MSDU;
		len += d->flags & ORDER ? 6 : 2;
	}
	data_addresses(d, f, off, packing);
	dissect_sequence(d, f, off + 22);
	padding = r->flags & RADIOTAP_DATAPAD ? -len & 3 : 0;
	if (d->subtype & DATA_NULL || d->flags & PROTECTED || d->fragment)
		return padding;
	off += len + padding;
	if (packing == AMSDU)
		body_amsdu(d, f, r, off);
	else
		body_msdu(d, f, r, off, qos);
	return padding;
}

static void dissect_extension(struct dissection *d)
{
	if (d->subtype == DMG_BEACON)
		d->bssid = d->receiver;
	else if (d->subtype == S1G_BEACON)
		d->source = d->receiver;
}

static void dissect_duration(struct dissection *d, const unsigned char *p)
{
	unsigned int value = parse_le16(p), aid = value & 0x3fff;

	if (d->type == CONTROL && d->subtype == PS_POLL && value >= 0xc000 && aid && aid <= 2007)
		return;
	d->duration = value & DURATION;
	d->has |= DISSECT_DURATION;
}

/* Bytes on the air, as bpf/view.h counts them. */
static unsigned int mpdu_len(const struct frame *f, const struct radio *r, unsigned int padding)
{
	unsigned int len = f->orig_len - r->len - padding;

	return r->flags & RADIOTAP_FCS ? len : len + FCS_LEN;
}

unsigned int dot11_dissect(struct dissection *d, const struct frame *f, const struct radio *r)
{
	unsigned int off = r->len, padding = 0;
	const unsigned char *p = frame_at(f, off, 2);

	if (!p || r->no_frame)
		return 0;
	if (p[0] & 3) /* version 0 has this header */
		return mpdu_len(f, r, 0);
	d->mac_offset = off;
	d->type = p[0] >> 2 & 3;
	d->subtype = p[0] >> 4;
	d->flags = p[1];
	d->has |= DISSECT_TYPE;
	p = frame_at(f, off + 2, 2);
	if (p)
		dissect_duration(d, p);
	d->receiver = frame_at(f, off + 4, 6);
	switch (d->type) {
	case MANAGEMENT:
		dissect_management(d, f, off);
		body_management(d, f, r, off);
		break;
	case CONTROL:
		if (d->subtype == WRAPPER)
			dissect_wrapped(d, f, off);
		else
			dissect_control(d, f, d->subtype, d->flags & 15, off + 10);
		break;
	case DATA:
		padding = dissect_data(d, f, r, off);
		break;
	case EXTENSION:
		dissect_extension(d);
		break;
	}
	return mpdu_len(f, r, padding);
}
