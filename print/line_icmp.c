// SPDX-License-Identifier: GPL-2.0
/* ICMP: see line_icmp.h. */
#include "line_icmp.h"

#define ECHO_LEN 8

/* Bytes 4 to 7: identifier, sequence number. */
static void echo_line(struct packet *p, const char *what)
{
	const unsigned char *h = frame_at(p->f, p->off, ECHO_LEN);

	text_add(p->t, "echo %s", what);
	if (h)
		text_add(p->t, ", id %u, seq %u", parse_be16(h + 4), parse_be16(h + 6));
	else
		text_add(p->t, " [|icmp]");
}

/* The unreachable destination, protocol and port, from the quoted packet. */
static void unreachable_line(struct packet *p, unsigned int code)
{
	const unsigned char *h = frame_at(p->f, p->off + 8, 20), *ports;
	unsigned int protocol;

	if (!h) {
		text_add(p->t, "unreachable code %u [|icmp]", code);
		return;
	}
	protocol = h[9];
	ports = frame_at(p->f, p->off + 8 + (h[0] & 15) * 4, 4);
	if (code == 0)
		text_add(p->t, "net ");
	else if (code == 1)
		text_add(p->t, "host ");
	text_ipv4(p->t, h + 16);
	if (code == 2)
		text_add(p->t, " protocol %u", protocol);
	else if (code == 3 && ports && (protocol == 6 || protocol == 17))
		text_add(p->t, " %s port %u", protocol == 6 ? "tcp" : "udp", parse_be16(ports + 2));
	else if (code == 3)
		text_add(p->t, " protocol %u port", protocol);
	text_add(p->t, " unreachable");
	if (code == 4)
		text_add(p->t, " - need to frag (mtu %u)",
			 parse_be16(frame_at(p->f, p->off + 6, 2)));
	else if (code > 4)
		text_add(p->t, " code %u", code);
}

void line_icmp(struct packet *p)
{
	const unsigned char *h = frame_at(p->f, p->off, 4);

	packet_ends(p, NULL);
	text_add(p->t, " ICMP ");
	if (!h) {
		text_add(p->t, "[|icmp]");
		return;
	}
	switch (h[0]) {
	case 0:
		echo_line(p, "reply");
		break;
	case 3:
		unreachable_line(p, h[1]);
		break;
	case 5:
		text_add(p->t, "redirect code %u", h[1]);
		break;
	case 8:
		echo_line(p, "request");
		break;
	case 11:
		text_add(p->t, "%s",
			 h[1] ? "ip reassembly time exceeded" : "time exceeded in-transit");
		break;
	default:
		text_add(p->t, "type %u code %u", h[0], h[1]);
	}
	text_add(p->t, ", length %u", p->len);
}

/* ---- ICMPv6 ---------------------------------------------------------------------------------- */

static void unreachable6_line(struct packet *p, unsigned int code)
{
	static const char *const why[] = { "unreachable route", "unreachable prohibited",
					   "beyond scope",	"unreachable address",
					   "unreachable port",	"policy failed",
					   "reject route" };
	const unsigned char *h = frame_at(p->f, p->off + 8, 40), *ports;

	text_add(p->t, "destination unreachable, ");
	if (code < sizeof(why) / sizeof(*why))
		text_add(p->t, "%s", why[code]);
	else
		text_add(p->t, "code %u", code);
	if (!h) {
		text_add(p->t, " [|icmp6]");
		return;
	}
	text_add(p->t, ", ");
	text_ipv6(p->t, h + 24);
	ports = frame_at(p->f, p->off + 48, 4);
	if (code == 4 && ports && (h[6] == 6 || h[6] == 17))
		text_add(p->t, " %s port %u", h[6] == 6 ? "tcp" : "udp", parse_be16(ports + 2));
}

/* Neighbor solicitation and advertisement: the target address. */
static void neighbor_line(struct packet *p, const char *what)
{
	const unsigned char *h = frame_at(p->f, p->off + 8, 16);

	text_add(p->t, "%s", what);
	if (h)
		text_ipv6(p->t, h);
	else
		text_add(p->t, "[|icmp6]");
}

static void icmp6_type_line(struct packet *p, const unsigned char *h)
{
	const unsigned char *rest = frame_at(p->f, p->off, 8);

	switch (h[0]) {
	case 1:
		unreachable6_line(p, h[1]);
		break;
	case 2:
		text_add(p->t, "packet too big");
		if (rest)
			text_add(p->t, ", mtu %u", parse_be32(rest + 4));
		break;
	case 3:
		text_add(p->t, "time exceeded %s", h[1] ? "in-reassembly" : "in-transit");
		break;
	case 4:
		text_add(p->t, "parameter problem, code %u", h[1]);
		break;
	case 128:
		echo_line(p, "request");
		break;
	case 129:
		echo_line(p, "reply");
		break;
	case 133:
		text_add(p->t, "router solicitation");
		break;
	case 134:
		text_add(p->t, "router advertisement");
		break;
	case 135:
		neighbor_line(p, "neighbor solicitation, who has ");
		break;
	case 136:
		neighbor_line(p, "neighbor advertisement, tgt is ");
		break;
	case 143:
		text_add(p->t, "multicast listener report v2");
		if (rest)
			text_add(p->t, ", %u group record(s)", parse_be16(rest + 6));
		break;
	default:
		text_add(p->t, "type %u code %u", h[0], h[1]);
	}
}

void line_icmp6(struct packet *p)
{
	const unsigned char *h = frame_at(p->f, p->off, 4);

	packet_ends(p, NULL);
	text_add(p->t, " ICMP6, ");
	if (!h) {
		text_add(p->t, "[|icmp6]");
		return;
	}
	icmp6_type_line(p, h);
	text_add(p->t, ", length %u", p->len);
}
