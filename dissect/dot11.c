// SPDX-License-Identifier: GPL-2.0
/* 802.11: see dot11.h. */
#include "dot11.h"

#include <stddef.h>

#include "bpf/parse_dot11.h"
#include "network.h"

#define FCS_LEN 4
#define SSID_MAX 32
#define ELEMENT_SSID 0
#define QOS_AMSDU 0x80
#define QOS_MESH 0x100
#define MESH_LEN 6
#define MESH_ADDRESSES_MAX 2
#define DURATION 0x7fff
#define HEADER_LEN 24 /* management and data frames with three addresses */

/* Bits of the second byte of frame control. */
enum { TO_DS = 1, FROM_DS = 2, PROTECTED = 0x40, ORDER = 0x80 };
enum { MANAGEMENT, CONTROL, DATA, EXTENSION };
enum { ASSOC_REQUEST, REASSOC_REQUEST = 2, PROBE_REQUEST = 4, PROBE_RESPONSE, BEACON = 8 };
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

/* ---- body --------------------------------------------------------------------------------------
 */

/* The body ends before the FCS. */
static struct frame without_fcs(const struct frame *f, const struct radio *r)
{
	struct frame body = *f;

	if (!(r->flags & RADIOTAP_FCS) || f->orig_len < r->len + FCS_LEN)
		return body;
	body.orig_len -= FCS_LEN;
	if (body.end - body.data > (long)body.orig_len)
		body.end = body.data + body.orig_len;
	return body;
}

/* Bytes before the elements; -1: no SSID. */
static int fixed_len(unsigned int subtype)
{
	switch (subtype) {
	case PROBE_REQUEST:
		return 0;
	case ASSOC_REQUEST:
		return 4;
	case REASSOC_REQUEST:
		return 10;
	case PROBE_RESPONSE:
	case BEACON:
		return 12;
	default:
		return -1;
	}
}

static void dissect_ssid(struct dissection *d, const struct frame *f, unsigned int off)
{
	const unsigned char *e;

	while ((e = frame_at(f, off, 2)) && frame_at(f, off, 2 + e[1])) {
		if (e[0] == ELEMENT_SSID) {
			if (e[1] <= SSID_MAX) {
				d->ssid = e + 2;
				d->ssid_len = e[1];
			}
			return;
		}
		off += 2 + e[1];
	}
}

static void management_body(struct dissection *d, const struct frame *f, unsigned int off)
{
	int fixed = fixed_len(d->subtype);

	if (fixed >= 0 && !(d->flags & PROTECTED) && !d->fragment)
		dissect_ssid(d, f, off + HEADER_LEN + (d->flags & ORDER ? 4 : 0) + fixed);
}

/* The first subframe: destination, source, length, LLC. The header has those addresses that differ
 * from it. */
static void amsdu_body(struct dissection *d, const struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off, 14);

	if (!p)
		return;
	if (!d->destination)
		d->destination = p;
	if (!d->source)
		d->source = p + 6;
	network_llc(d, f, off + 14, parse_be16(p + 12));
}

/* ---- header ------------------------------------------------------------------------------------
 */

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

/* Skips mesh control: flags, with the number of further addresses, TTL and sequence number. Access
 * points use its QoS bit for their buffer state, and some cards do not set it. Therefore it is
 * there if its flags are possible and SNAP follows, as tshark decides too; the bit decides if
 * the frame is cut. */
static unsigned int after_mesh(const struct frame *f, unsigned int off, unsigned int qos,
			       unsigned int flags)
{
	const unsigned char *p = frame_at(f, off, 1), *llc;
	unsigned int after;

	if (!p || !(flags & FROM_DS) || p[0] > MESH_ADDRESSES_MAX)
		return off;
	after = off + MESH_LEN + p[0] * 6;
	llc = frame_at(f, after, 2);
	if (llc)
		return llc[0] == 0xaa && llc[1] == 0xaa ? after : off;
	return qos & QOS_MESH ? after : off;
}

/* Returns the number of padding bytes after the header. */
static unsigned int dissect_data(struct dissection *d, const struct frame *f, const struct radio *r,
				 unsigned int off)
{
	unsigned int len = HEADER_LEN, qos = 0, padding;
	enum packing packing = MSDU;
	const unsigned char *p;
	struct frame body;

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
	body = without_fcs(f, r);
	off += len + padding;
	if (packing == AMSDU)
		amsdu_body(d, &body, off);
	else
		network_llc(d, &body, after_mesh(&body, off, qos, d->flags), PARSE_ALL);
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
	struct frame body;

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
		body = without_fcs(f, r);
		management_body(d, &body, off);
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
