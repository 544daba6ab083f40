// SPDX-License-Identifier: GPL-2.0
/* PPI headers: see radio.h. Everything is little-endian. */
#include <errno.h>
#include <saluki/linktype.h>

#include "bpf/view_phy.h"
#include "radio.h"

#define HEAD 8
#define FIELD_HEAD 4 /* type 2, length 2 */
#define FIELDS_MAX 16
#define NOT_VALID (-128)
#define COMMON_FCS 1
#define COMMON_BAD_FCS 4

enum { COMMON = 2, HT_MAC_PHY = 4 };
enum { COMMON_LEN = 20, HT_MAC_PHY_LEN = 48 };

static void set_level(struct radio *r, int *level, int dbm, unsigned int bit)
{
	/* The field is always there; writers without a value give 0 too. */
	if (dbm == NOT_VALID || dbm == 0)
		return;
	*level = dbm;
	r->has |= bit;
}

/* 802.11-Common: TSFT 8, flags 2, rate 2, frequency 2, channel flags 2, FHSS 2, signal 1, noise 1.
 */
static void read_common(struct radio *r, const unsigned char *p)
{
	unsigned int flags = parse_le16(p + 8);

	r->flags = (flags & COMMON_FCS ? RADIOTAP_FCS : 0) |
		   (flags & COMMON_BAD_FCS ? RADIOTAP_BAD_FCS : 0);
	r->has |= DISSECT_FCS;
	r->sent.rate_kbps = parse_le16(p + 10) * 500;
	r->sent.mhz = parse_le16(p + 12);
	if (r->sent.mhz)
		r->has |= DISSECT_FREQUENCY;
	view_legacy(&r->sent, 0, parse_le16(p + 14));
	set_level(r, &r->signal, (int8_t)p[18], DISSECT_SIGNAL);
	set_level(r, &r->noise, (int8_t)p[19], DISSECT_NOISE);
}

/* 802.11n MAC and PHY: flags 4 (1 greenfield, 2 40 MHz, 4 short guard interval), A-MPDU 4,
 * delimiters 1, MCS 1. As radiotap's field MCS: known, flags, MCS. */
static void read_ht(struct radio *r, const unsigned char *p)
{
	const unsigned char ht[3] = { 0x0f, (p[0] & 2 ? 1 : 0) | (p[0] & 4) | (p[0] & 1 ? 8 : 0),
				      p[9] };

	if (p[9] == 255)
		return;
	view_ht(&r->sent, ht);
	r->has |= DISSECT_MCS;
}

int radio_ppi(struct radio *r, const struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, HEAD);
	unsigned int off = HEAD, len;

	if (!p || p[0] != 0 || parse_le32(p + 4) != LINKTYPE_IEEE802_11)
		return -EBADMSG;
	r->len = parse_le16(p + 2);
	if (r->len < HEAD || !frame_at(f, 0, r->len))
		return -EBADMSG;
	for (int i = 0; i < FIELDS_MAX && off + FIELD_HEAD <= r->len; i++) {
		p = f->data + off;
		len = parse_le16(p + 2);
		off += FIELD_HEAD + len;
		if (off > r->len)
			break;
		if (parse_le16(p) == COMMON && len == COMMON_LEN)
			read_common(r, p + FIELD_HEAD);
		else if (parse_le16(p) == HT_MAC_PHY && len == HT_MAC_PHY_LEN)
			read_ht(r, p + FIELD_HEAD);
	}
	return 0;
}
