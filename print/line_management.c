// SPDX-License-Identifier: GPL-2.0
/* Management frames: see line_management.h. */
#include "line_management.h"

#include <stdbool.h>

#define TRUNCATED " [|802.11]"
#define SSID_MAX 32
#define CAPABILITY_PRIVACY 0x10
#define ELEMENT_SSID 0
#define ELEMENT_DS 3  /* its channel, at 2.4 GHz */
#define ELEMENT_HT 61 /* HT operation: its first byte is the primary channel */

enum {
	ASSOC_REQUEST,
	ASSOC_RESPONSE,
	REASSOC_REQUEST,
	REASSOC_RESPONSE,
	PROBE_REQUEST,
	PROBE_RESPONSE,
	BEACON = 8,
	DISASSOCIATION = 10,
	AUTHENTICATION,
	DEAUTHENTICATION,
	ACTION,
	ACTION_NO_ACK,
};

/* Appends the SSID and the sender's channel, from the elements at `off`. */
static void elements(struct text *t, struct frame *f, unsigned int off)
{
	unsigned int channel = 0;
	bool has_ssid = false;

	while (off < f->orig_len) {
		const unsigned char *e = frame_at(f, off, 2);
		unsigned int len = e ? e[1] : 0;

		e = e ? frame_at(f, off, 2 + len) : NULL;
		if (!e)
			break;
		if (e[0] == ELEMENT_SSID && !has_ssid && len <= SSID_MAX) {
			text_add(t, " ");
			text_quoted(t, e + 2, len);
			has_ssid = true;
		} else if (e[0] == ELEMENT_DS && len == 1) {
			channel = e[2];
		} else if (e[0] == ELEMENT_HT && len && !channel) {
			channel = e[2];
		}
		off += 2 + len;
	}
	if (channel)
		text_add(t, " CH: %u", channel);
	if (off < f->orig_len && !has_ssid)
		text_add(t, TRUNCATED);
}

static void authentication(struct text *t, const unsigned char *p)
{
	static const char *const names[] = { "Open System", "Shared Key", "Fast BSS Transition",
					     "SAE" };
	unsigned int how = parse_le16(p);

	if (how < sizeof(names) / sizeof(*names))
		text_add(t, " (%s)", names[how]);
	else
		text_add(t, " (algorithm %u)", how);
	text_add(t, "-%u, status %u", parse_le16(p + 2), parse_le16(p + 4));
}

/* Bytes before the elements. */
static unsigned int fixed_len(unsigned int subtype)
{
	switch (subtype) {
	case ASSOC_REQUEST:
		return 4;
	case REASSOC_REQUEST:
		return 10;
	case ASSOC_RESPONSE:
	case REASSOC_RESPONSE:
	case AUTHENTICATION:
		return 6;
	case PROBE_RESPONSE:
	case BEACON:
		return 12;
	case DISASSOCIATION:
	case DEAUTHENTICATION:
		return 2;
	case ACTION:
	case ACTION_NO_ACK:
		return 1;
	default:
		return 0;
	}
}

void line_management(struct text *t, struct frame *f, unsigned int off, unsigned int subtype)
{
	unsigned int len = fixed_len(subtype);
	const unsigned char *p = frame_at(f, off, len);

	if (!p) {
		text_add(t, TRUNCATED);
		return;
	}
	switch (subtype) {
	case ASSOC_REQUEST:
	case REASSOC_REQUEST:
	case PROBE_REQUEST:
		elements(t, f, off + len);
		break;
	case PROBE_RESPONSE:
	case BEACON:
		elements(t, f, off + len);
		if (parse_le16(p + 10) & CAPABILITY_PRIVACY)
			text_add(t, " PRIVACY");
		break;
	case ASSOC_RESPONSE:
	case REASSOC_RESPONSE:
		text_add(t, " status %u", parse_le16(p + 2));
		if (!parse_le16(p + 2))
			text_add(t, " AID %u", parse_le16(p + 4) & 0x3fff);
		break;
	case AUTHENTICATION:
		authentication(t, p);
		break;
	case DISASSOCIATION:
	case DEAUTHENTICATION:
		text_add(t, " reason %u", parse_le16(p));
		break;
	case ACTION:
	case ACTION_NO_ACK:
		text_add(t, " category %u", p[0]);
		break;
	}
}
