// SPDX-License-Identifier: GPL-2.0
/* A frame with pseudonyms: see pseudonym_frame.h. */
#include "pseudonym_frame.h"

#include <saluki/linktype.h>

#include "dissect/radio.h"
#include "pseudonym_dot11.h"
#include "pseudonym_radio.h"
#include "wire/bytes.h"

static bool is_tag(unsigned int type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static void ethernet(struct rewrite *r)
{
	const uint8_t *p;

	rewrite_address(r);
	rewrite_address(r);
	while ((p = rewrite_peek(r, 4)) && is_tag(load_be(p, 2)))
		rewrite_copy(r, 4);
	rewrite_copy(r, 2);
}

/* Bytes that may be an FCS are none of the frame's. */
static void end_before_fcs(struct rewrite *r, const struct radio *radio)
{
	uint32_t most = r->whole < r->at + REWRITE_FCS_LEN ? r->at : r->whole - REWRITE_FCS_LEN;

	r->has_fcs = radio->flags & RADIOTAP_FCS;
	if (r->has_fcs && r->len > most)
		r->len = most;
}

static void dot11(struct rewrite *r, uint16_t linktype)
{
	struct frame f = { .data = r->frame, .end = r->frame + r->len, .orig_len = r->whole };
	struct radio radio;

	if (radio_read(&radio, &f, linktype))
		return;
	if (radio.len)
		pseudonym_radio(r, linktype, radio.len);
	end_before_fcs(r, &radio);
	if (!radio.no_frame)
		pseudonym_dot11(r, radio.flags & RADIOTAP_DATAPAD, radio.flags & RADIOTAP_BAD_FCS);
}

/* Link types whose frames other programs refuse without a pseudo-header (saluki-files(5)). */
static const struct {
	uint16_t linktype;
	uint8_t len, last;
} pseudo_headers[] = {
	{ 123, 4, 0 },	   /* SunATM */
	{ 139, 4, 0 },	   /* MTP2 */
	{ 144, 16, 0x17 }, /* IrDA: the protocol */
	{ 177, 16, 0x30 }, /* LAPD: the protocol */
	{ 196, 5, 0 },	   /* SITA */
	{ 197, 20, 0 },	   /* ERF */
	{ 201, 4, 0 },	   /* Bluetooth H4 */
	{ 204, 1, 0 },	   /* PPP with direction */
	{ 209, 5, 0 },	   /* I2C */
	{ 245, 2, 0 },	   /* NFC */
	{ 254, 4, 0 },	   /* Bluetooth monitor */
};

/* Zeros in place of a pseudo-header. */
static void other(struct rewrite *r, uint16_t linktype)
{
	for (size_t i = 0; i < sizeof(pseudo_headers) / sizeof(*pseudo_headers); i++)
		if (pseudo_headers[i].linktype == linktype &&
		    rewrite_zero(r, pseudo_headers[i].len))
			r->out[r->at - 1] = pseudo_headers[i].last;
}

uint32_t pseudonym_frame(struct pseudonyms *p, uint16_t linktype, uint8_t *out,
			 const uint8_t *frame, uint32_t kept, uint32_t whole)
{
	struct rewrite r = {
		.names = p,
		.frame = frame,
		.out = out,
		.len = kept,
		.whole = whole < kept ? kept : whole,
	};

	if (linktype == LINKTYPE_ETHERNET)
		ethernet(&r);
	else if (linktype_is_80211(linktype))
		dot11(&r, linktype);
	else
		other(&r, linktype);
	return r.at;
}
