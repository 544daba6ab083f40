/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: where the headers of a frame end. In: a frame of a known link type. Out: an offset
 * from the frame's first byte. Compiled for BPF and for the host from this one text, so that
 * the kernel and `-r` cannot disagree.
 *
 * Always holds: a header is believed only as far as its bytes are there. When a header is not
 * there whole (the frame is cut) the end is where it would have ended at least; the caller
 * clips to the frame. When a header lies (a length below its own minimum, or beyond the frame)
 * the end is that of its fixed part, and `malformed` is set: what cannot be understood is
 * not kept.
 *
 * Sources: IEEE 802.11-2020 clause 9, radiotap.org, linux/ieee80211.h, RFC 791, 8200, 9293,
 * 4302, 2784, 3032, 2516.
 */
#ifndef SALUKI_PARSE_H
#define SALUKI_PARSE_H

#include <saluki/linktype.h>

#define parse_inline static inline __attribute__((always_inline))

/* No header is looked for beyond this offset: the verifier wants a bound for packet offsets. */
#define PARSE_OFFSET_MAX 16384
#define PARSE_ALL 0xffffffffu /* the whole frame may be kept */

#define RADIOTAP_WORDS_MAX 128 /* present words followed; drivers use at most a dozen */
#define LINK_TAGS_MAX 8	       /* VLAN tags and MPLS labels followed */
#define IP_EXTENSIONS_MAX 8    /* IPv6 extension headers followed */

/* Every path through the headers reaches the next one with other bounds on the offset, and the
 * verifier would walk on from each of them: tags, labels and extensions multiply to more than it
 * takes. At the joints its knowledge is therefore dropped: adding a zero that it cannot know
 * and masking leaves just "at most `mask`", the same on all paths. Nothing of an offset is cut
 * off by PARSE_OFFSET_MASK: a header begins at PARSE_OFFSET_MAX at most, and the longest has 2 KB.
 * Linux 6.1 forgets a comparison when the offset is spilled to the stack; the mask alone keeps a
 * packet pointer within the 65,535 it allows. */
#define PARSE_OFFSET_MASK 0x7fffu
#ifdef __bpf__
extern volatile unsigned int parse_zero; /* in .bss: only we know that it stays 0 */
#define parse_joint(value, mask) (((value) + parse_zero) & (mask))
#else
#define parse_joint(value, mask) (value)
#endif

struct frame {
	const unsigned char *data, *end; /* the bytes at hand */
	unsigned int orig_len;		 /* bytes the frame had before anybody cut it */
	unsigned int malformed;		 /* out: a header lied */
};

/* Returns the `n` bytes at `off`, or 0 where they are not all there. */
parse_inline const unsigned char *frame_at(const struct frame *f, unsigned int off, unsigned int n)
{
#ifdef __bpf__
	const unsigned char *p;

	asm volatile("" : "+r"(off)); /* compare and add one register, not two loads of it */
	if (off > PARSE_OFFSET_MAX)
		return 0;
	p = f->data + off;
	/* Without this clang compares one pointer with the end and reads through another, and
	 * the verifier knows only the first as checked. */
	asm volatile("" : "+r"(p));
	if (p + n > f->end)
		return 0;
	return p;
#else
	unsigned long len = f->end - f->data;

	if (off > PARSE_OFFSET_MAX || off > len || n > len - off)
		return 0;
	return f->data + off;
#endif
}

parse_inline unsigned int parse_be16(const unsigned char *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

parse_inline unsigned int parse_le16(const unsigned char *p)
{
	return (unsigned int)p[1] << 8 | p[0];
}

parse_inline unsigned int parse_be32(const unsigned char *p)
{
	return parse_be16(p) << 16 | parse_be16(p + 2);
}

parse_inline unsigned int parse_le32(const unsigned char *p)
{
	return parse_le16(p + 2) << 16 | parse_le16(p);
}

parse_inline unsigned int parse_min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

parse_inline unsigned int frame_malformed(struct frame *f, unsigned int end)
{
	f->malformed = 1;
	return end;
}

/* End of a header at `off` that says it has `len` bytes, `fixed` of them always. */
parse_inline unsigned int header_end(struct frame *f, unsigned int off, unsigned int len,
				     unsigned int fixed)
{
	if (len < fixed || off + len > f->orig_len)
		return frame_malformed(f, off + fixed);
	return off + len;
}

/* End of the transport header at `off`. */
parse_inline unsigned int transport_end(struct frame *f, unsigned int off, unsigned int proto)
{
	const unsigned char *p;

	switch (proto) {
	case 6: /* TCP */
		p = frame_at(f, off, 20);
		if (!p)
			return off + 20;
		return header_end(f, off, (p[12] >> 4) * 4, 20);
	case 1:	  /* ICMP */
	case 2:	  /* IGMP */
	case 17:  /* UDP */
	case 58:  /* ICMPv6 */
	case 136: /* UDP-Lite */
	case 50:  /* ESP: SPI and sequence number */
		return off + 8;
	case 132: /* SCTP: the common header */
		return off + 12;
	case 33: /* DCCP */
		p = frame_at(f, off, 12);
		if (!p)
			return off + 12;
		return header_end(f, off, p[4] * 4, 12);
	case 47: /* GRE: checksum or routing, key, sequence, and in PPTP (RFC 2637)
		  * acknowledgement number each add a word */
		p = frame_at(f, off, 4);
		if (!p)
			return off + 4;
		return off + 4 + ((p[0] & 0xc0) ? 4 : 0) + ((p[0] & 0x20) ? 4 : 0) +
		       ((p[0] & 0x10) ? 4 : 0) + ((p[1] & 0x87) == 0x81 ? 4 : 0);
	default:
		return off;
	}
}

/* Follows IPv6 extension headers (and AH under IPv4) from `off` to the transport header. */
parse_inline unsigned int extensions_end(struct frame *f, unsigned int off, unsigned int proto,
					 int ipv6)
{
	const unsigned char *p;
	unsigned int end;

	for (int i = 0; i < IP_EXTENSIONS_MAX; i++) {
		off = parse_joint(off, PARSE_OFFSET_MASK);
		int ah = proto == 51;
		int fragment = ipv6 && proto == 44;
		int option = ipv6 && (proto == 0 || proto == 43 || proto == 60 || proto == 135 ||
				      proto == 139 || proto == 140);

		if (!ah && !fragment && !option)
			return transport_end(f, off, proto);
		p = frame_at(f, off, 8);
		if (!p)
			return off + 8;
		proto = p[0];
		if (fragment) {
			off += 8;
			if (parse_be16(p + 2) & 0xfff8)
				return off; /* not the first fragment: no transport header */
			continue;
		}
		end = header_end(f, off, ah ? (p[1] + 2) * 4 : (p[1] + 1) * 8, 8);
		if (end == off + 8 && p[1])
			return end; /* it lied */
		off = end;
	}
	return off;
}

parse_inline unsigned int ipv4_end(struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off, 20);
	unsigned int len, total, end;

	if (!p)
		return off + 20;
	len = (p[0] & 15) * 4;
	total = parse_be16(p + 2);
	/* A total length of 0 is a segment that the card will cut (TSO). */
	if ((p[0] >> 4) != 4 || len < 20 || (total && total < len) || off + len > f->orig_len)
		return frame_malformed(f, off + 20);
	if (parse_be16(p + 6) & 0x1fff)
		return off + len; /* not the first fragment: no transport header */
	end = extensions_end(f, off + len, p[9], 0);
	return total ? parse_min(end, off + total) : end;
}

parse_inline unsigned int ipv6_end(struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off, 40);
	unsigned int payload, end;

	if (!p)
		return off + 40;
	if ((p[0] >> 4) != 6)
		return frame_malformed(f, off + 40);
	payload = parse_be16(p + 4);
	end = extensions_end(f, off + 40, p[6], 1);
	return payload ? parse_min(end, off + 40 + payload) : end;
}

parse_inline unsigned int arp_end(struct frame *f, unsigned int off)
{
	const unsigned char *p = frame_at(f, off, 8);

	if (!p)
		return off + 8;
	if (p[4] > 8 || p[5] > 16)
		return frame_malformed(f, off + 8);
	return header_end(f, off, 8 + 2 * (p[4] + p[5]), 8);
}

/* End of what an EtherType at the border of link and network layer announces; `off` is the
 * byte after it. Tags and labels are walked first, so that IP is expanded only once. */
parse_inline unsigned int network_end(struct frame *f, unsigned int off, unsigned int ethertype)
{
	const unsigned char *p;

	for (int i = 0; i < LINK_TAGS_MAX; i++) {
		off = parse_joint(off, PARSE_OFFSET_MASK);
		if (ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100) {
			p = frame_at(f, off, 4);
			if (!p)
				return off + 4;
			ethertype = parse_be16(p + 2);
			off += 4;
		} else if (ethertype == 0x8847 || ethertype == 0x8848) { /* MPLS */
			p = frame_at(f, off, 5);
			if (!p)
				return off + 4;
			off += 4;
			if (p[2] & 1) /* bottom of stack: RFC 4928, IP by its first nibble */
				ethertype = (p[4] >> 4) == 4   ? 0x0800
					    : (p[4] >> 4) == 6 ? 0x86dd
							       : 0;
		} else if (ethertype == 0x8864) { /* PPPoE session */
			p = frame_at(f, off, 8);
			if (!p)
				return off + 8;
			ethertype = parse_be16(p + 6) == 0x0021	  ? 0x0800
				    : parse_be16(p + 6) == 0x0057 ? 0x86dd
								  : 0;
			off += 8;
		} else {
			break;
		}
	}
	off = parse_joint(off, PARSE_OFFSET_MASK);
	ethertype = parse_joint(ethertype, 0xffffu);
	switch (ethertype) {
	case 0x0800:
		return ipv4_end(f, off);
	case 0x86dd:
		return ipv6_end(f, off);
	case 0x0806: /* ARP */
	case 0x8035: /* RARP */
		return arp_end(f, off);
	case 0x888e: /* EAPOL: its own header, not the keys */
		return off + 4;
	case 0x8863: /* PPPoE discovery */
		return off + 6;
	default:
		return off;
	}
}

parse_inline int llc_is_snap(const unsigned char *p)
{
	return p[0] == 0xaa && p[1] == 0xaa && p[2] == 0x03;
}

/* Logical link control (IEEE 802.2); with SNAP and an OUI that encapsulates Ethernet
 * (RFC 1042, IEEE 802.1H) the walk goes on. */
parse_inline unsigned int llc_end(struct frame *f, unsigned int off)
{
	const unsigned char *p;

	off = parse_joint(off, PARSE_OFFSET_MASK);
	p = frame_at(f, off, 3);
	if (!p)
		return off + 3;
	if (!llc_is_snap(p)) /* the control field: one byte in the U format, else two */
		return (p[2] & 3) == 3 ? off + 3 : off + 4;
	p = frame_at(f, off, 8);
	if (!p)
		return off + 8;
	if (p[3] == 0 && p[4] == 0 && (p[5] == 0 || p[5] == 0xf8) && parse_be16(p + 6) >= 1536)
		return network_end(f, off + 8, parse_be16(p + 6));
	return off + 8;
}

parse_inline unsigned int ethernet_end(struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 14);
	unsigned int type;

	if (!p)
		return 14;
	type = parse_be16(p + 12);
	if (type >= 1536)
		return network_end(f, 14, type);
	/* IEEE 802.3 length: what is behind it is padding */
	return parse_min(llc_end(f, 14), 14 + type);
}

/* Returns whether the driver padded the 802.11 header to four bytes: 1, 0, or -1 where the
 * header of `len` bytes does not hold the fields it announces. */
parse_inline int radiotap_datapad(struct frame *f, unsigned int len)
{
	const unsigned char *p = frame_at(f, 4, 4);
	unsigned int first, word, off = 8;

	if (!p)
		return 0;
	first = word = parse_le32(p);
	for (int i = 1; i < RADIOTAP_WORDS_MAX && (word & 0x80000000u); i++) {
		p = frame_at(f, off, 4);
		if (!p || off + 4 > len)
			return -1;
		word = parse_le32(p);
		off = parse_joint(off + 4, PARSE_OFFSET_MASK);
	}
	if (word & 0x80000000u)
		return -1;
	if (!(first & 2)) /* no flags field */
		return 0;
	if (first & 1) /* TSFT: 8 bytes, aligned to 8 */
		off = ((off + 7) & ~7u) + 8;
	if (off >= len)
		return -1;
	p = frame_at(f, off, 1);
	return p ? (p[0] >> 5) & 1 : 0; /* IEEE80211_RADIOTAP_F_DATAPAD */
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

/* An 802.11 frame at `off`; `radiotap_len` is 0 where there is no radiotap header. */
parse_inline unsigned int dot11_end(struct frame *f, unsigned int off, unsigned int radiotap_len)
{
	const unsigned char *p;
	unsigned int fc0, fc1, len = 24, qos = 0;
	int pad = 0;

	if (off > PARSE_OFFSET_MAX)
		return off; /* what is in front is kept, what is behind cannot be looked at */
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
	if (radiotap_len) {
		pad = radiotap_datapad(f, radiotap_len);
		if (pad < 0)
			return frame_malformed(f, 8);
	}
	if (fc0 & 0x40)
		return off + len; /* null data: no body */
	if (pad)
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
	const unsigned char *p = frame_at(f, 0, 8);
	unsigned int len;

	if (!p)
		return 8;
	len = parse_le16(p + 2);
	if (p[0] != 0 || len < 8 || len > f->orig_len)
		return frame_malformed(f, 8);
	return dot11_end(f, len, len);
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
	return dot11_end(f, len, 0);
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
	return dot11_end(f, len, 0);
}

/* Offset after the last header that `--keep headers` keeps, PARSE_ALL for a whole frame. May
 * lie beyond the end of the frame. `linktype` must have linktype_has_trim(). */
parse_inline unsigned int frame_headers_end(struct frame *f, int linktype)
{
	switch (linktype) {
	case LINKTYPE_ETHERNET:
		return ethernet_end(f);
	case LINKTYPE_RADIOTAP:
		return radiotap_end(f);
	case LINKTYPE_IEEE802_11:
		return dot11_end(f, 0, 0);
	case LINKTYPE_PRISM:
	case LINKTYPE_AVS:
		return prism_end(f);
	case LINKTYPE_PPI:
		return ppi_end(f);
	default:
		return PARSE_ALL;
	}
}

#endif
