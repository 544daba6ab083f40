// SPDX-License-Identifier: GPL-2.0
/* Bodies of 802.11 frames: see dot11_body.h. */
#include "dot11_body.h"

#include "bpf/parse_dot11.h"
#include "network.h"

#define SSID_MAX 32
#define ELEMENT_SSID 0
#define SUBFRAME_HEADER 14 /* destination, source, length */
#define QOS_MESH 0x100
#define MESH_LEN 6
#define MESH_ADDRESSES_MAX 2

enum { ASSOC_REQUEST, REASSOC_REQUEST = 2, PROBE_REQUEST = 4, PROBE_RESPONSE, BEACON = 8 };

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

void body_management(struct dissection *d, const struct frame *f, const struct radio *r,
		     unsigned int off)
{
	int fixed = fixed_len(d->subtype);
	struct frame body;

	if (fixed < 0 || d->flags & PROTECTED || d->fragment)
		return;
	body = without_fcs(f, r);
	dissect_ssid(d, &body, off + HEADER_LEN + (d->flags & ORDER ? 4 : 0) + fixed);
}

/* The header has those addresses that differ from the subframe's. */
void body_amsdu(struct dissection *d, const struct frame *f, const struct radio *r,
		unsigned int off)
{
	struct frame body = without_fcs(f, r);
	const unsigned char *p = frame_at(&body, off, SUBFRAME_HEADER);

	if (!p)
		return;
	if (!d->destination)
		d->destination = p;
	if (!d->source)
		d->source = p + 6;
	network_llc(d, &body, off + SUBFRAME_HEADER, parse_be16(p + 12));
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

void body_msdu(struct dissection *d, const struct frame *f, const struct radio *r, unsigned int off,
	       unsigned int qos)
{
	struct frame body = without_fcs(f, r);

	network_llc(d, &body, after_mesh(&body, off, qos, d->flags), PARSE_ALL);
}
