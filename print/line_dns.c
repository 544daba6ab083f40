// SPDX-License-Identifier: GPL-2.0
/* DNS: see line_dns.h. Always holds: a name's pointers lead back, so it ends. */
#include "line_dns.h"

#define HEADER_LEN 12
#define NAME_MAX_LEN 255 /* bytes of a name on the wire */
#define CLASS_IN 1
#define TOP_BIT 0x8000 /* of the class, in multicast DNS: an answer to the sender alone, please */

static const char *type_name(unsigned int type)
{
	switch (type) {
	case 1:
		return "A";
	case 2:
		return "NS";
	case 5:
		return "CNAME";
	case 6:
		return "SOA";
	case 12:
		return "PTR";
	case 15:
		return "MX";
	case 16:
		return "TXT";
	case 28:
		return "AAAA";
	case 33:
		return "SRV";
	case 35:
		return "NAPTR";
	case 43:
		return "DS";
	case 48:
		return "DNSKEY";
	case 64:
		return "SVCB";
	case 65:
		return "HTTPS";
	case 252:
		return "AXFR";
	case 255:
		return "ANY";
	default:
		return NULL;
	}
}

/* As in a zone file (RFC 1035, 5.1). */
static void label(struct text *t, const unsigned char *p, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++) {
		if (p[i] == '.' || p[i] == '\\')
			text_add(t, "\\%c", p[i]);
		else if (p[i] <= 0x20 || p[i] >= 0x7f)
			text_add(t, "\\%03u", p[i]);
		else
			text_add(t, "%c", p[i]);
	}
	text_add(t, ".");
}

/* Appends the name at `at`, an offset in the message at `off`. Returns the offset after it, or 0
 * after a mark. */
static unsigned int name(struct text *t, struct frame *f, unsigned int off, unsigned int at)
{
	unsigned int after = 0, bytes = 0, lowest = at;

	for (;;) {
		const unsigned char *p = frame_at(f, off + at, 1);
		unsigned int len = p ? p[0] : 0;

		p = p ? frame_at(f, off + at + 1, len < 0x40 ? len : 1) : NULL;
		if (!p || (len >= 0x40 && len < 0xc0)) {
			text_add(t, p ? "<bad label>" : "[|domain]");
			return 0;
		}
		if (len >= 0xc0) { /* a pointer to an earlier name */
			after = after ?: at + 2;
			at = (len & 0x3f) << 8 | p[0];
			if (at >= lowest) {
				text_add(t, "<bad pointer>");
				return 0;
			}
			lowest = at;
			continue;
		}
		at += 1 + len;
		bytes += 1 + len;
		if (len && bytes < NAME_MAX_LEN)
			label(t, p, len);
		if (bytes == 1 && !len)
			text_add(t, ".");
		if (!len)
			return after ?: at;
		if (bytes >= NAME_MAX_LEN) {
			text_add(t, "<name too long>");
			return 0;
		}
	}
}

/* The question at `at`. Returns the offset after it, or 0 after a mark. */
static unsigned int question(struct text *t, struct frame *f, unsigned int off, unsigned int at,
			     bool multicast)
{
	unsigned int after, type, class;
	const unsigned char *p;
	struct text its_name;

	its_name.len = 0;
	its_name.bytes[0] = '\0';
	after = name(&its_name, f, off, at);
	p = after ? frame_at(f, off + after, 4) : NULL;
	if (!p) {
		text_add(t, " %s%s", its_name.bytes, after ? " [|domain]" : "");
		return 0;
	}
	type = parse_be16(p);
	class = parse_be16(p + 2) & (multicast ? TOP_BIT - 1 : 0xffff);
	if (class != CLASS_IN)
		text_add(t, " class %u", class);
	if (type_name(type))
		text_add(t, " %s", type_name(type));
	else
		text_add(t, " Type%u", type);
	if (multicast)
		text_add(t, " (Q%c)", parse_be16(p + 2) & TOP_BIT ? 'U' : 'M');
	text_add(t, "? %s", its_name.bytes);
	return after + 4;
}

static void error_line(struct text *t, unsigned int code)
{
	static const char *const names[] = { "",	"FormErr", "ServFail", "NXDomain",
					     "NotImp",	"Refused", "YXDomain", "YXRRSet",
					     "NXRRSet", "NotAuth", "NotZone" };

	if (code && code < sizeof(names) / sizeof(*names))
		text_add(t, " %s", names[code]);
	else if (code)
		text_add(t, " Resp%u", code);
}

/* Flags: 0x8000 response, 0x0400 authoritative, 0x0200 truncated, 0x0100 recursion desired, 0x0080
 * available, 0x0020 authentic data, 0x0010 checking disabled. */
static void flags_line(struct text *t, unsigned int flags)
{
	if (flags & 0x8000) {
		text_add(t, "%s%s%s%s", flags & 0x0400 ? "*" : "", flags & 0x0080 ? "" : "-",
			 flags & 0x0200 ? "|" : "", flags & 0x0020 ? "$" : "");
		error_line(t, flags & 15);
	} else {
		text_add(t, "%s%s", flags & 0x0100 ? "+" : "", flags & 0x0010 ? "%" : "");
	}
	if (flags & 0x7800)
		text_add(t, " op%u", flags >> 11 & 15);
}

void line_dns(struct text *t, struct frame *f, unsigned int off, unsigned int len, bool multicast)
{
	const unsigned char *h = frame_at(f, off, HEADER_LEN);
	unsigned int at = HEADER_LEN, flags, questions;

	if (!h) {
		text_add(t, " [|domain] (%u)", len);
		return;
	}
	flags = parse_be16(h + 2);
	questions = parse_be16(h + 4);
	text_add(t, " %u", parse_be16(h));
	flags_line(t, flags);
	if (flags & 0x8000 && questions)
		text_add(t, " q:");
	for (unsigned int i = 0; i < questions && at; i++)
		at = question(t, f, off, at, multicast);
	if (flags & 0x8000)
		text_add(t, " %u/%u/%u", parse_be16(h + 6), parse_be16(h + 8), parse_be16(h + 10));
	else if (parse_be16(h + 10))
		text_add(t, " [%uau]", parse_be16(h + 10));
	text_add(t, " (%u)", len);
}
