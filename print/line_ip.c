// SPDX-License-Identifier: GPL-2.0
/* IP: see line_ip.h. */
#include "line_ip.h"

#include "bpf/parse_network.h"
#include "line_dns.h"
#include "line_icmp.h"
#include "line_packet.h"

#define DEPTH_MAX 4 /* IP in IP in IP */

enum { ICMP = 1, IGMP = 2, IPIP = 4, TCP = 6, UDP = 17, IP6 = 41, AH = 51, ICMP6 = 58 };

static void ip_at(struct packet *p, unsigned int off, unsigned int len);

/* ---- transport ------------------------------------------------------------------------------- */

static void tcp_flags(struct text *t, unsigned int flags)
{
	static const char letters[] = "FSRP.UEW"; /* from bit 0 on */
	char text[9];
	int n = 0;

	for (int i = 0; i < 8; i++)
		if (flags & 1 << i)
			text[n++] = letters[i];
	text[n] = '\0';
	text_add(t, " Flags [%s]", n ? text : "none");
}

static void tcp_line(struct packet *p)
{
	const unsigned char *h = frame_at(p->f, p->off, 20);
	const unsigned char *ports = frame_at(p->f, p->off, 4);
	unsigned int head, payload, seq, flags;

	packet_ends(p, ports);
	if (!h) {
		text_add(p->t, " [|tcp]");
		return;
	}
	flags = h[13];
	head = (h[12] >> 4) * 4;
	tcp_flags(p->t, flags);
	if (head < 20 || head > p->len) {
		text_add(p->t, " [bad hdr length %u, length %u]", head, p->len);
		return;
	}
	payload = p->len - head;
	seq = parse_be32(h + 4);
	if (payload)
		text_add(p->t, ", seq %u:%u", seq, seq + payload);
	else if (flags & 7) /* FIN, SYN, RST */
		text_add(p->t, ", seq %u", seq);
	if (flags & 0x10)
		text_add(p->t, ", ack %u", parse_be32(h + 8));
	text_add(p->t, ", win %u", parse_be16(h + 14));
	if (flags & 0x20)
		text_add(p->t, ", urg %u", parse_be16(h + 18));
	text_add(p->t, ", length %u", payload);
	/* Over TCP, a length precedes the message. */
	if (payload > 2 && (parse_be16(ports) == 53 || parse_be16(ports + 2) == 53))
		line_dns(p->t, p->f, p->off + head + 2, payload - 2, false);
}

/* Ports of DNS, multicast DNS and LLMNR. */
static bool is_dns(const unsigned char *ports)
{
	for (int i = 0; i < 2; i++) {
		unsigned int port = parse_be16(ports + 2 * i);

		if (port == 53 || port == 5353 || port == 5355)
			return true;
	}
	return false;
}

static void udp_line(struct packet *p)
{
	const unsigned char *h = frame_at(p->f, p->off, 8);
	unsigned int len;

	packet_ends(p, frame_at(p->f, p->off, 4));
	if (!h) {
		text_add(p->t, " [|udp]");
		return;
	}
	len = parse_be16(h + 4);
	if (len == 0) /* a jumbogram, or a segment that the card splits */
		len = p->len < 8 ? 8 : p->len;
	if (len < 8 || (len > p->len && !p->fragment)) {
		text_add(p->t, " [bad udp length %u, length %u]", len, p->len);
		return;
	}
	if (is_dns(h) && len > 8)
		line_dns(p->t, p->f, p->off + 8, len - 8,
			 parse_be16(h) == 5353 || parse_be16(h + 2) == 5353);
	else
		text_add(p->t, " UDP, length %u", len - 8);
}

static const char *protocol_name(unsigned int protocol)
{
	switch (protocol) {
	case IGMP:
		return "igmp";
	case 33:
		return "DCCP";
	case 47:
		return "GRE";
	case 50:
		return "ESP";
	case 59:
		return "no next header";
	case 89:
		return "OSPF";
	case 103:
		return "PIM";
	case 112:
		return "VRRP";
	case 132:
		return "sctp";
	default:
		return NULL;
	}
}

static bool has_ports(unsigned int protocol)
{
	return protocol == 33 || protocol == 132;
}

static void other_line(struct packet *p)
{
	const char *name = protocol_name(p->protocol);

	packet_ends(p, has_ports(p->protocol) ? frame_at(p->f, p->off, 4) : NULL);
	if (name)
		text_add(p->t, " %s, length %u", name, p->len);
	else
		text_add(p->t, " ip-proto-%u, length %u", p->protocol, p->len);
}

/* IP inside IP: the line continues with the inner packet. */
static void inner_line(struct packet *p)
{
	struct packet inner = { .t = p->t, .f = p->f, .depth = p->depth + 1 };

	packet_ends(p, NULL);
	if (inner.depth == DEPTH_MAX) {
		text_add(p->t, " IP, length %u", p->len);
		return;
	}
	text_add(p->t, " ");
	inner.version = p->protocol == IPIP ? 4 : 6;
	ip_at(&inner, p->off, p->len);
}

static void transport_line(struct packet *p)
{
	switch (p->protocol) {
	case TCP:
		tcp_line(p);
		break;
	case UDP:
		udp_line(p);
		break;
	case ICMP:
		line_icmp(p);
		break;
	case ICMP6:
		line_icmp6(p);
		break;
	case IPIP:
	case IP6:
		inner_line(p);
		break;
	default:
		other_line(p);
	}
}

/* ---- network --------------------------------------------------------------------------------- */

static void fragment_line(struct packet *p, unsigned int at)
{
	packet_ends(p, NULL);
	if (p->version == 4)
		text_add(p->t, " ip-proto-%u, fragment at %u, length %u", p->protocol, at, p->len);
	else
		text_add(p->t, " frag (%u|%u)", at, p->len);
}

/* Moves past a header of `len` bytes in front of the transport header. */
static void skip(struct packet *p, unsigned int len, unsigned int next)
{
	p->protocol = next;
	p->off += len;
	p->len = p->len > len ? p->len - len : 0;
}

/* Follows IPv6's extension headers, and AH under both. Returns false after a line: the packet is a
 * later fragment, or ends in them. */
static bool extensions_line(struct packet *p)
{
	for (int i = 0; i < IP_EXTENSIONS_MAX; i++) {
		unsigned int n = p->protocol;
		bool option = n == 0 || n == 43 || n == 60 || n == 135 || n == 139 || n == 140;
		const unsigned char *h;

		if (n != AH && (p->version == 4 || (n != 44 && !option)))
			break;
		h = frame_at(p->f, p->off, 8);
		if (!h) {
			packet_ends(p, NULL);
			text_add(p->t, " [|ip6 extension %u]", n);
			return false;
		}
		skip(p, n == AH ? (h[1] + 2) * 4 : n == 44 ? 8 : (h[1] + 1) * 8, h[0]);
		if (n == 44 && parse_be16(h + 2) & 0xfff8) {
			fragment_line(p, parse_be16(h + 2) & 0xfff8);
			return false;
		}
		p->fragment |= n == 44;
	}
	return true;
}

static bool ipv4_header(struct packet *p, unsigned int len)
{
	const unsigned char *h = frame_at(p->f, p->off, 20);
	unsigned int head, total, at;

	text_add(p->t, "IP ");
	if (!h) {
		text_add(p->t, "[|ip], length %u", len);
		return false;
	}
	head = (h[0] & 15) * 4;
	total = parse_be16(h + 2) ?: len; /* 0: a segment that the card splits (TSO) */
	if (h[0] >> 4 != 4 || head < 20 || total < head) {
		text_add(p->t, "[malformed], length %u", len);
		return false;
	}
	p->from = h + 12;
	p->to = h + 16;
	p->protocol = h[9];
	p->off += head;
	p->len = total - head;
	p->fragment = parse_be16(h + 6) & 0x2000;
	at = (parse_be16(h + 6) & 0x1fff) * 8;
	if (at)
		fragment_line(p, at);
	return !at;
}

static bool ipv6_header(struct packet *p, unsigned int len)
{
	const unsigned char *h = frame_at(p->f, p->off, 40);

	text_add(p->t, "IP6 ");
	if (!h) {
		text_add(p->t, "[|ip6], length %u", len);
		return false;
	}
	if (h[0] >> 4 != 6) {
		text_add(p->t, "[malformed], length %u", len);
		return false;
	}
	p->from = h + 8;
	p->to = h + 24;
	p->protocol = h[6];
	p->off += 40;
	p->len = parse_be16(h + 4) ?: len > 40 ? len - 40 : 0; /* 0: a jumbogram, or TSO */
	return true;
}

static void ip_at(struct packet *p, unsigned int off, unsigned int len)
{
	bool go_on;

	p->off = off;
	go_on = p->version == 4 ? ipv4_header(p, len) : ipv6_header(p, len);
	if (go_on && extensions_line(p))
		transport_line(p);
}

void line_ip(struct text *t, struct frame *f, unsigned int off, unsigned int len,
	     unsigned int version)
{
	struct packet p = { .t = t, .f = f, .version = version };

	ip_at(&p, off, len);
}
