// SPDX-License-Identifier: GPL-2.0
/*
 * 802.11: see line_dot11.h. In: a frame with its capture header. Out: channel, signal, type,
 * addresses, fields of a management frame, and network headers of an unencrypted data frame.
 */
#include "line_dot11.h"

#include "bpf/parse_dot11.h"
#include "line_management.h"
#include "line_network.h"
#include "line_radio.h"

#define TRUNCATED "[|802.11]"
#define FCS_LEN 4

enum { MANAGEMENT, CONTROL, DATA };

/* The words of tcpdump. */
static const char *const names[3][16] = {
	[MANAGEMENT] = { "Assoc Request", "Assoc Response", "ReAssoc Request", "ReAssoc Response",
			 "Probe Request", "Probe Response", "Timing Advertisement", NULL, "Beacon",
			 "ATIM", "Disassociation", "Authentication", "DeAuthentication", "Action",
			 "Action No Ack", NULL },
	[CONTROL] = { NULL, NULL, "Trigger", NULL, "Beamforming Report Poll", "NDP Announcement",
		      NULL, "Control Wrapper", "BAR", "BA", "Power Save-Poll", "Request-To-Send",
		      "Clear-To-Send", "Acknowledgment", "CF-End", "CF-End+CF-Ack" },
	[DATA] = { "Data", "Data+CF-Ack", "Data+CF-Poll", "Data+CF-Ack+CF-Poll", "Null", "CF-Ack",
		   "CF-Poll", "CF-Ack+CF-Poll", "QoS Data", "QoS Data+CF-Ack", "QoS Data+CF-Poll",
		   "QoS Data+CF-Ack+CF-Poll", "QoS Null", NULL, "QoS CF-Poll",
		   "QoS CF-Ack+CF-Poll" },
};

struct header {
	unsigned int fc0, fc1, type, subtype;
	unsigned int off; /* of the 802.11 header */
	unsigned int len; /* bytes of it */
	bool is_amsdu;
};

static void flags_line(struct text *t, const struct header *h)
{
	if (h->fc1 & 0x08)
		text_add(t, "Retry ");
	if (h->fc1 & 0x04 && h->type != CONTROL)
		text_add(t, "More Fragments ");
	if (h->fc1 & 0x10)
		text_add(t, "Pwr Mgmt ");
	if (h->fc1 & 0x20)
		text_add(t, "More Data ");
	if (h->fc1 & 0x40)
		text_add(t, "Protected ");
}

/* Appends an address with its label. Returns it, or NULL after a mark if it is cut off. */
static const unsigned char *address(struct text *t, struct frame *f, unsigned int off,
				    const char *label)
{
	const unsigned char *p = frame_at(f, off, 6);

	if (!p) {
		text_add(t, " " TRUNCATED);
		return NULL;
	}
	text_add(t, " %s:", label);
	text_mac(t, p);
	return p;
}

static bool same(const unsigned char *a, const unsigned char *b)
{
	return !__builtin_memcmp(a, b, 6);
}

/* Management and data frames: an address has its label if it differs from the earlier ones. Address
 * 3 is, by the bits to and from the distribution system: BSSID, source, destination, destination.
 */
static bool addresses(struct text *t, struct frame *f, const struct header *h)
{
	static const char *const third[] = { "BSSID", "SA", "DA", "DA" };
	unsigned int ds = h->type == DATA ? h->fc1 & 3 : 0;
	const unsigned char *ra, *ta, *p;

	ra = address(t, f, h->off + 4, "RA");
	ta = ra ? address(t, f, h->off + 10, "TA") : NULL;
	if (!ta)
		return false;
	p = frame_at(f, h->off + 16, 6);
	/* fc1: bit 0 to, bit 1 from the distribution system */
	if (!p || (!same(p, ra) && !same(p, ta)))
		p = address(t, f, h->off + 16, third[ds == 1 ? 2 : ds == 2 ? 1 : ds]);
	if (p && ds == 3)
		p = address(t, f, h->off + 24, "SA");
	return p;
}

/* Fills the header's length. Returns false if it is truncated. */
static bool header_len(struct frame *f, struct header *h)
{
	const unsigned char *p;

	h->len = 24;
	if (h->type == DATA) {
		h->len += (h->fc1 & 3) == 3 ? 6 : 0;
		if (h->subtype & 8) {
			p = frame_at(f, h->off + h->len, 2);
			if (!p)
				return false;
			h->is_amsdu = p[0] & 0x80;
			h->len += h->fc1 & 0x80 ? 6 : 2; /* HT control */
		}
		if (f->flags & RADIOTAP_DATAPAD)
			h->len = (h->len + 3) & ~3u;
	} else if (h->fc1 & 0x80) {
		h->len += 4;
	}
	return true;
}

static void control_line(struct text *t, struct frame *f, const struct header *h)
{
	/* Wrapper, CTS and acknowledgement have one address. */
	bool one = h->subtype == 7 || h->subtype == 12 || h->subtype == 13;

	if (address(t, f, h->off + 4, "RA") && !one)
		address(t, f, h->off + 10, "TA");
}

/* Appends the network headers of a data frame, if they can be read. Returns whether they were. */
static bool data_line(struct text *t, struct frame *f, const struct header *h)
{
	const unsigned char *p = frame_at(f, h->off + 22, 2);
	unsigned int off = h->off + h->len;
	bool has_body = !(h->subtype & 4) && !(h->fc1 & 0x40);

	if (!has_body || (p && (p[0] & 15)))
		return false;
	if (h->is_amsdu) {
		text_add(t, " A-MSDU");
		return false;
	}
	if (off >= f->orig_len)
		return false;
	text_add(t, " ");
	line_llc(t, f, off, f->orig_len - off);
	return true;
}

/* Returns whether the line already ends with a length. */
static bool type_line(struct text *t, struct frame *f, struct header *h)
{
	const char *name = h->type <= DATA ? names[h->type][h->subtype] : NULL;

	flags_line(t, h);
	if (!name) {
		text_add(t, "type %u subtype %u", h->type, h->subtype);
		return false;
	}
	text_add(t, "%s", name);
	if (h->type == CONTROL) {
		control_line(t, f, h);
		return false;
	}
	if (!addresses(t, f, h))
		return false;
	if (!header_len(f, h)) {
		text_add(t, " " TRUNCATED);
		return false;
	}
	if (h->type == DATA)
		return data_line(t, f, h);
	if (!(h->fc1 & 0x40))
		line_management(t, f, h->off + h->len, h->subtype);
	return false;
}

unsigned int line_dot11(struct text *t, struct frame *f, int linktype)
{
	const unsigned char *p;
	struct radio r;
	struct header h = { 0 };

	if (radio_read(&r, f, linktype)) {
		text_add(t, "[|capture header], length %u", f->orig_len);
		return f->orig_len;
	}
	f->flags = r.flags;
	if (r.flags & RADIOTAP_FCS && f->orig_len >= r.len + FCS_LEN) {
		f->orig_len -= FCS_LEN; /* the FCS is not printed */
		if (f->end - f->data > (long)f->orig_len)
			f->end = f->data + f->orig_len;
	}
	radio_line(t, &r);
	if (r.flags & RADIOTAP_BAD_FCS)
		text_add(t, "bad-fcs ");
	h.off = r.len;
	p = frame_at(f, h.off, 2);
	if (!p) {
		text_add(t, TRUNCATED ", length %u", f->orig_len - r.len);
		return f->orig_len;
	}
	h.fc0 = p[0];
	h.fc1 = p[1];
	h.type = p[0] >> 2 & 3;
	h.subtype = p[0] >> 4;
	if (p[0] & 3)
		text_add(t, "802.11 version %u", p[0] & 3);
	if ((p[0] & 3) || !type_line(t, f, &h))
		text_add(t, ", length %u", f->orig_len - r.len);
	return h.off + h.len;
}
