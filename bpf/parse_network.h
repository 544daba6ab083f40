/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: from an EtherType or LLC header through the transport header. Sources: RFC 791, 8200,
 * 9293, 4302, 2784, 2637, 3032, 2516, 1042, IEEE 802.2 and 802.1Q.
 */
#ifndef SALUKI_PARSE_NETWORK_H
#define SALUKI_PARSE_NETWORK_H

#include "parse_frame.h"

#define LINK_TAGS_MAX 8	    /* VLAN tags and MPLS labels followed */
#define IP_EXTENSIONS_MAX 8 /* IPv6 extension headers followed */

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
			return end; /* it is malformed */
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
	/* A total length of 0 is a segment that the card will split (TSO). */
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
	/* IEEE 802.3 length: padding follows */
	return parse_min(llc_end(f, 14), 14 + type);
}

#endif
