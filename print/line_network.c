// SPDX-License-Identifier: GPL-2.0
/* Link to network layer: see line_network.h. */
#include "line_network.h"

#include "bpf/parse_network.h"
#include "line_ip.h"

#define TYPE_LEN_MAX 1536 /* a smaller EtherType is a length */

static const char *type_name(unsigned int ethertype)
{
	switch (ethertype) {
	case 0x0800:
		return "IPv4";
	case 0x86dd:
		return "IPv6";
	case 0x0806:
		return "ARP";
	case 0x8035:
		return "Reverse ARP";
	case 0x8100:
		return "802.1Q";
	case 0x88a8:
		return "802.1Q-QinQ";
	case 0x9100:
		return "802.1Q-9100";
	case 0x8847:
		return "MPLS unicast";
	case 0x8848:
		return "MPLS multicast";
	case 0x8863:
		return "PPPoE D";
	case 0x8864:
		return "PPPoE S";
	case 0x888e:
		return "EAPOL";
	case 0x88cc:
		return "LLDP";
	default:
		return "Unknown";
	}
}

/* Addresses of hardware that is no Ethernet are not read. */
static void arp_line(struct text *t, struct frame *f, unsigned int off, unsigned int len, bool rarp)
{
	const unsigned char *p = frame_at(f, off, 8);
	unsigned int operation;

	text_add(t, rarp ? "Reverse ARP, " : "ARP, ");
	if (!p) {
		text_add(t, "[|arp], length %u", len);
		return;
	}
	operation = parse_be16(p + 6);
	if (p[4] != 6 || p[5] != 4 || !(p = frame_at(f, off, 28))) {
		text_add(t, "%soperation %u, length %u", p ? "" : "[|arp] ", operation, len);
		return;
	}
	switch (operation) {
	case 1:
		text_add(t, "Request who-has ");
		text_ipv4(t, p + 24);
		text_add(t, " tell ");
		text_ipv4(t, p + 14);
		break;
	case 2:
		text_add(t, "Reply ");
		text_ipv4(t, p + 14);
		text_add(t, " is-at ");
		text_mac(t, p + 8);
		break;
	case 3:
		text_add(t, "Reverse Request who-is ");
		text_mac(t, p + 18);
		text_add(t, " tell ");
		text_mac(t, p + 8);
		break;
	case 4:
		text_add(t, "Reverse Reply ");
		text_mac(t, p + 18);
		text_add(t, " at ");
		text_ipv4(t, p + 24);
		break;
	default:
		text_add(t, "operation %u", operation);
	}
	text_add(t, ", length %u", len);
}

static void eapol_line(struct text *t, struct frame *f, unsigned int off, unsigned int len)
{
	static const char *const kinds[] = { "packet", "start", "logoff", "key",
					     "encap. ASF alert" };
	const unsigned char *p = frame_at(f, off, 4);

	if (!p)
		text_add(t, "EAPOL [|eap], length %u", len);
	else if (p[1] < sizeof(kinds) / sizeof(*kinds))
		text_add(t, "EAPOL %s (%u) v%u, len %u, length %u", kinds[p[1]], p[1], p[0],
			 parse_be16(p + 2), len);
	else
		text_add(t, "EAPOL type %u v%u, len %u, length %u", p[1], p[0], parse_be16(p + 2),
			 len);
}

static bool is_tag(unsigned int type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static bool is_mpls(unsigned int type)
{
	return type == 0x8847 || type == 0x8848;
}

static bool is_wrap(unsigned int type)
{
	return is_tag(type) || is_mpls(type) || type == 0x8864;
}

/* A header in front of another one. Returns the next header's EtherType, 0 if it is not known,
 * or -1 after a mark. Advances `off`. */
static int wrap_line(struct text *t, struct frame *f, unsigned int *off, unsigned int type,
		     bool first)
{
	bool tag = is_tag(type), session = type == 0x8864;
	const unsigned char *p = frame_at(f, *off, tag ? 4 : session ? 8 : 5);
	unsigned int next;

	if (!p) {
		text_add(t, tag ? "[|vlan]" : session ? "[|pppoe]" : "[|mpls]");
		return -1;
	}
	if (tag) {
		text_add(t, "vlan %u, p %u, ", parse_be16(p) & 0xfff, p[0] >> 5);
		*off += 4;
		return parse_be16(p + 2);
	}
	if (session) {
		text_add(t, "PPPoE [ses 0x%x] ", parse_be16(p + 2));
		next = parse_be16(p + 6);
		*off += 8;
		if (next != 0x0021 && next != 0x0057)
			text_add(t, "PPP 0x%04x", next);
		return next == 0x0021 ? 0x0800 : next == 0x0057 ? 0x86dd : 0;
	}
	text_add(t, "%s(label %u, tc %u%s, ttl %u) ", first ? "MPLS " : "", parse_be32(p) >> 12,
		 p[2] >> 1 & 7, p[2] & 1 ? ", [S]" : "", p[3]);
	*off += 4;
	if (!(p[2] & 1))
		return type;
	if (p[4] >> 4 == 4)
		return 0x0800;
	if (p[4] >> 4 == 6)
		return 0x86dd;
	text_add(t, "payload");
	return 0;
}

void line_network(struct text *t, struct frame *f, unsigned int off, unsigned int len,
		  unsigned int ethertype)
{
	unsigned int end = off + len;
	int type = ethertype, before = 0;

	for (int i = 0; i < LINK_TAGS_MAX && is_wrap(type); i++) {
		int next = wrap_line(t, f, &off, type, !is_mpls(before));

		before = type;
		type = next;
	}
	len = end > off ? end - off : 0;
	switch (type) {
	case 0x0800:
	case 0x86dd:
		line_ip(t, f, off, len, type == 0x0800 ? 4 : 6);
		break;
	case 0x0806:
	case 0x8035:
		arp_line(t, f, off, len, type == 0x8035);
		break;
	case 0x888e:
		eapol_line(t, f, off, len);
		break;
	case -1:
	case 0:
		text_add(t, ", length %u", len);
		break;
	default:
		if (type < TYPE_LEN_MAX)
			line_llc(t, f, off, len);
		else
			text_add(t, "%s (0x%04x), length %u", type_name(type), type, len);
	}
}

/* With SNAP, an Ethernet type follows (RFC 1042, IEEE 802.1H). */
void line_llc(struct text *t, struct frame *f, unsigned int off, unsigned int len)
{
	const unsigned char *p = frame_at(f, off, 3);

	if (!p) {
		text_add(t, "[|llc], length %u", len);
		return;
	}
	if (!llc_is_snap(p)) {
		text_add(t, "LLC, dsap 0x%02x, ssap 0x%02x, ctrl 0x%02x%s, length %u", p[0], p[1],
			 p[2], p[0] == 0x42 && p[1] == 0x42 ? ", STP" : "", len);
		return;
	}
	p = frame_at(f, off, 8);
	if (!p)
		text_add(t, "[|snap], length %u", len);
	else if (p[3] || p[4] || (p[5] && p[5] != 0xf8) || parse_be16(p + 6) < TYPE_LEN_MAX)
		text_add(t, "SNAP, oui %02x:%02x:%02x, pid 0x%04x, length %u", p[3], p[4], p[5],
			 parse_be16(p + 6), len);
	else
		line_network(t, f, off + 8, len > 8 ? len - 8 : 0, parse_be16(p + 6));
}

unsigned int line_ethernet(struct text *t, struct frame *f, bool link)
{
	const unsigned char *p = frame_at(f, 0, 14);
	unsigned int type, len;

	if (!p) {
		text_add(t, "[|ether], length %u", f->orig_len);
		return f->orig_len;
	}
	type = parse_be16(p + 12);
	len = f->orig_len > 14 ? f->orig_len - 14 : 0;
	if (link) {
		text_mac(t, p + 6);
		text_add(t, " > ");
		text_mac(t, p);
		if (type >= TYPE_LEN_MAX)
			text_add(t, ", ethertype %s (0x%04x)", type_name(type), type);
		else
			text_add(t, ", 802.3");
		text_add(t, ", length %u: ", f->orig_len);
	}
	if (type < TYPE_LEN_MAX) /* a length: padding follows */
		line_llc(t, f, 14, type < len ? type : len);
	else
		line_network(t, f, 14, len, type);
	return 14;
}
