/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: 802.11 and the headers before it. Sources: IEEE 802.11-2020 clause 9, radiotap.org,
 * linux/ieee80211.h.
 */
#ifndef SALUKI_PARSE_DOT11_H
#define SALUKI_PARSE_DOT11_H

#include <saluki/linktype.h>

#include "parse_network.h"

#define RADIOTAP_WORDS_MAX 128 /* present words followed; drivers use at most a dozen */
#define RADIOTAP_SHORT 0x02    /* flags: of DSSS, the short preamble, */
#define RADIOTAP_FCS 0x10      /* the FCS is there, */
#define RADIOTAP_DATAPAD 0x20  /* the 802.11 header is padded to four bytes, */
#define RADIOTAP_BAD_FCS 0x40  /* the FCS was wrong, */
#define RADIOTAP_LIES 0x100    /* and ours: the header does not hold the fields it announces */

/* Returns the length of a radiotap header, 0 if it is malformed or truncated. */
parse_inline unsigned int radiotap_len(struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	unsigned int len = p ? parse_le16(p + 2) : 0;

	return !p || p[0] != 0 || len < 8 || len > f->orig_len ? 0 : len;
}

/* Returns the offset of the first field, after the present words of a header of `len` bytes. `word`
 * is the first present word. Returns 0 if the present words do not end inside the header. */
parse_inline unsigned int radiotap_fields(struct frame *f, unsigned int len, unsigned int word)
{
	const unsigned char *p;
	unsigned int off = 8;

	for (int i = 1; i < RADIOTAP_WORDS_MAX && (word & 0x80000000u); i++) {
		p = frame_at(f, off, 4);
		if (!p || off + 4 > len)
			return 0;
		word = parse_le32(p);
		off = parse_joint(off + 4, PARSE_OFFSET_MASK);
	}
	return word & 0x80000000u ? 0 : off;
}

/* Returns the flags field of a radiotap header, or 0. Only the first present word is searched,
 * where drivers put the flags. Other namespaces begin after that word's fields. */
parse_inline unsigned int radiotap_flags(struct frame *f)
{
	unsigned int len = radiotap_len(f), first, off;
	const unsigned char *p = frame_at(f, 4, 4);

	if (!len || !p)
		return 0;
	first = parse_le32(p);
	off = radiotap_fields(f, len, first);
	if (!off)
		return RADIOTAP_LIES;
	if (!(first & 2)) /* no flags field */
		return 0;
	if (first & 1) /* TSFT: 8 bytes, aligned to 8 */
		off = ((off + 7) & ~7u) + 8;
	if (off >= len)
		return RADIOTAP_LIES;
	p = frame_at(f, off, 1);
	return p ? p[0] : 0;
}

/* Body of an unprotected data frame: mesh control, A-MSDU subframe header, LLC. `qos` is the
 * QoS control field or 0. */
parse_inline unsigned int dot11_body_end(struct frame *f, unsigned int off, unsigned int qos,
					 int from_ds)
{
	const unsigned char *p;
	unsigned int bound = PARSE_ALL;

	if (qos & 0x80) { /* A-MSDU: the first subframe, DA, SA and a length */
		p = frame_at(f, off, 14);
		if (!p)
			return off + 14;
		off += 14;
		bound = off + parse_be16(p + 12);
	} else if ((qos & 0x100) && from_ds) {
		/* Mesh control is there if its flags could be mesh flags: access points use the
		 * same QoS bit for their buffer state. */
		p = frame_at(f, off, 1);
		if (!p)
			return off + 6;
		if (p[0] < 3)
			off += 6 + p[0] * 6;
	}
	return parse_min(llc_end(f, off), bound);
}

/* An 802.11 frame at `off`. */
parse_inline unsigned int dot11_end(struct frame *f, unsigned int off)
{
	const unsigned char *p;
	unsigned int fc0, fc1, len = 24, qos = 0;

	if (off > PARSE_OFFSET_MAX)
		return off; /* too far to parse: all before it is kept */
	p = frame_at(f, off, 2);
	if (!p)
		return off + 2;
	fc0 = p[0];
	fc1 = p[1];
	if (fc0 & 3) /* protocol version: only 0 has this header */
		return frame_malformed(f, off + 2);
	if ((fc0 & 0x0c) != 0x08)
		return PARSE_ALL; /* management, control, extension */

	if ((fc1 & 3) == 3)
		len += 6; /* four addresses */
	p = frame_at(f, off, 24);
	if (!p)
		return off + len;
	/* Fragments but the first carry no LLC header. */
	int later_fragment = p[22] & 15;

	if (fc0 & 0x80) {
		p = frame_at(f, off + len, 2);
		if (!p)
			return off + len + 2;
		qos = parse_le16(p);
		len += 2;
		if (fc1 & 0x80)
			len += 4; /* HT control */
	}
	if (f->flags & RADIOTAP_LIES)
		return frame_malformed(f, 8);
	if (fc0 & 0x40)
		return off + len; /* null data: no body */
	if (f->flags & RADIOTAP_DATAPAD)
		len = (len + 3) & ~3u;
	off = parse_joint(off + len, PARSE_OFFSET_MASK);
	if (fc1 & 0x40) { /* protected: 8 bytes of cipher header, WEP has 4 */
		p = frame_at(f, off, 4);
		return p && !(p[3] & 0x20) ? off + 4 : off + 8;
	}
	if (later_fragment)
		return off;
	return dot11_body_end(f, off, qos, fc1 & 2);
}

parse_inline unsigned int radiotap_end(struct frame *f)
{
	unsigned int len = radiotap_len(f);

	if (!frame_at(f, 0, 8))
		return 8;
	return len ? dot11_end(f, len) : frame_malformed(f, 8);
}

/* Prism (linux-wlan-ng, the writer's byte order) or AVS (network order) header. */
parse_inline unsigned int prism_end(struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	unsigned int code, len;

	if (!p)
		return 8;
	code = parse_be32(p);
	if ((code & 0xfffff000u) == 0x80211000u || code == 0x44 || code == 0x41)
		len = parse_be32(p + 4);
	else
		len = parse_le32(p + 4);
	if (len < 8 || len > f->orig_len)
		return frame_malformed(f, 8);
	return dot11_end(f, len);
}

/* Per-packet information (files only): its own header names the link type behind it. */
parse_inline unsigned int ppi_end(struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	unsigned int len;

	if (!p)
		return 8;
	len = parse_le16(p + 2);
	if (p[0] != 0 || len < 8 || len > f->orig_len || parse_le32(p + 4) != LINKTYPE_IEEE802_11)
		return frame_malformed(f, 8);
	return dot11_end(f, len);
}

#endif
