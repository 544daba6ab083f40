// SPDX-License-Identifier: GPL-2.0
/* 802.11: see pseudonym_dot11.h. Source: IEEE 802.11-2020, 9.2 and 9.3. */
#include "pseudonym_dot11.h"

#include "pseudonym_elements.h"
#include "wire/bytes.h"

/* Bits of the second byte of frame control. */
enum { TO_DS = 1, FROM_DS = 2, PROTECTED = 0x40, ORDER = 0x80 };
enum { MANAGEMENT, CONTROL, DATA };
enum {
	ASSOC_REQUEST,
	ASSOC_RESPONSE,
	REASSOC_REQUEST,
	REASSOC_RESPONSE,
	PROBE_REQUEST,
	PROBE_RESPONSE,
	BEACON = 8,
	DISASSOC = 10,
	AUTH,
	DEAUTH,
	ACTION,
	ACTION_NO_ACK
};
enum {
	TRIGGER = 2,
	BEAMFORMING_POLL = 4,
	NDP_ANNOUNCEMENT,
	CONTROL_EXTENSION,
	WRAPPER,
	BLOCK_ACK_REQUEST,
	BLOCK_ACK,
	PS_POLL,
	RTS,
	CTS,
	ACK,
	CF_END,
	CF_END_ACK
};
enum { BASIC, COMPRESSED = 2, MULTI_TID }; /* block acknowledgements */
enum { DMG_POLL = 2, DMG_DTS = 6, DMG_LAST = 10 };
enum { DATA_NULL = 4, DATA_QOS = 8 }; /* bits of the subtype */
#define AUTH_FT 2		      /* after open system and shared key */

#define CIPHER_LEN 8
#define QOS_AMSDU 0x80
#define KEY_OCTET 0x3f /* without the key's number */
#define EXTENDED_IV 0x20

/* The packet number of CCMP and GCMP, or of TKIP. Drivers that decrypt a frame can leave its flag
 * set, and the body then begins with something else. */
static void cipher_header(struct rewrite *r)
{
	const uint8_t *p = rewrite_peek(r, CIPHER_LEN);

	if (p && (p[3] & KEY_OCTET) == EXTENDED_IV && (p[2] == 0 || p[1] == ((p[0] | 0x20) & 0x7f)))
		rewrite_copy(r, CIPHER_LEN);
}

/* ---- management ------------------------------------------------------------------------------ */

/* The time since the access point's start would find it in others' captures. Differences between
 * its frames stay. */
static bool timestamp(struct rewrite *r, const uint8_t *bssid)
{
	uint32_t at = r->at;

	if (!rewrite_zero(r, 8))
		return false;
	store_le(r->out + at, load_le64(r->frame + at) + pseudonym_clock(r->names, bssid), 8);
	return true;
}

static void authentication(struct rewrite *r)
{
	const uint8_t *p = r->frame + r->at;
	unsigned int algorithm;

	if (!rewrite_copy(r, 6))
		return;
	algorithm = p[0] | p[1] << 8;
	if (algorithm <= AUTH_FT) /* the others' bodies do not begin with elements */
		pseudonym_elements(r);
}

/* Returns whether elements follow. */
static bool fixed_fields(struct rewrite *r, unsigned int subtype, const uint8_t *bssid)
{
	switch (subtype) {
	case ASSOC_REQUEST:
		return rewrite_copy(r, 4);
	case REASSOC_REQUEST:
		return rewrite_copy(r, 4) && rewrite_address(r);
	case ASSOC_RESPONSE:
	case REASSOC_RESPONSE:
		return rewrite_copy(r, 6);
	case PROBE_REQUEST:
		return true;
	case PROBE_RESPONSE:
	case BEACON:
		return timestamp(r, bssid) && rewrite_copy(r, 4);
	case DISASSOC:
	case DEAUTH:
		return rewrite_copy(r, 2);
	default:
		return false;
	}
}

static void management(struct rewrite *r, unsigned int subtype, unsigned int flags, bool is_bad)
{
	const uint8_t *third, *sequence;

	rewrite_address(r);
	third = r->frame + r->at;
	rewrite_address(r);
	sequence = r->frame + r->at;
	if (!rewrite_copy(r, 2) || is_bad || flags & (PROTECTED | ORDER) || rewrite_is_fcs(r))
		return;
	if (sequence[0] & 15)
		return; /* not the first fragment */
	if (subtype == AUTH)
		authentication(r);
	else if (subtype == ACTION || subtype == ACTION_NO_ACK)
		rewrite_copy(r, 2); /* category and action */
	else if (fixed_fields(r, subtype, third))
		pseudonym_elements(r);
}

/* ---- control --------------------------------------------------------------------------------- */

/* Copies the last `n` bytes of a frame, unless the frame has another length. */
static void copy_last(struct rewrite *r, uint32_t n)
{
	uint32_t left = r->whole - r->at;

	if (left == n + REWRITE_FCS_LEN || (left == n && !r->has_fcs))
		rewrite_copy(r, n);
}

static void block_ack_request(struct rewrite *r)
{
	const uint8_t *p = r->frame + r->at;
	unsigned int type;

	if (!rewrite_copy(r, 2))
		return;
	type = p[0] >> 1 & 15;
	if (type == BASIC || type == COMPRESSED)
		copy_last(r, 2);
	else if (type == MULTI_TID)
		copy_last(r, 4 * ((p[1] >> 4) + 1));
}

static void block_ack(struct rewrite *r)
{
	const uint8_t *p = r->frame + r->at;
	unsigned int type;

	if (!rewrite_copy(r, 2))
		return;
	type = p[0] >> 1 & 15;
	if (type == BASIC)
		copy_last(r, 2 + 128);
	else if (type == COMPRESSED) /* bit 2 of the fragment's number tells a long bitmap */
		copy_last(r, rewrite_peek(r, 1) && r->frame[r->at] & 4 ? 2 + 32 : 2 + 8);
	else if (type == MULTI_TID)
		copy_last(r, 12 * ((p[1] >> 4) + 1));
}

/* Multi-station acknowledgements have addresses of stations, and group ones of groups: they end
 * behind their control field. */
static void control(struct rewrite *r, unsigned int subtype, unsigned int flags, bool is_bad)
{
	if (subtype == CTS || subtype == ACK || subtype == WRAPPER || subtype < TRIGGER)
		return;
	if (subtype == CONTROL_EXTENSION &&
	    ((flags & 15) < DMG_POLL || (flags & 15) > DMG_LAST || (flags & 15) == DMG_DTS))
		return;
	if (!rewrite_address(r) || is_bad)
		return;
	switch (subtype) {
	case TRIGGER:
		if (!rewrite_is_fcs(r))
			rewrite_copy(r, 8); /* what is for all stations */
		break;
	case BEAMFORMING_POLL:
		copy_last(r, 1);
		break;
	case NDP_ANNOUNCEMENT:
		if (!rewrite_is_fcs(r))
			rewrite_copy(r, 1);
		break;
	case BLOCK_ACK_REQUEST:
		block_ack_request(r);
		break;
	case BLOCK_ACK:
		block_ack(r);
		break;
	}
}

/* ---- data ------------------------------------------------------------------------------------ */

static void data(struct rewrite *r, unsigned int subtype, unsigned int flags, bool has_padding,
		 bool is_bad)
{
	uint32_t begin = r->at - 10; /* of the header */
	const uint8_t *qos;

	rewrite_address(r);
	rewrite_address(r);
	if (!rewrite_copy(r, 2))
		return;
	if ((flags & (TO_DS | FROM_DS)) == (TO_DS | FROM_DS) && !rewrite_address(r))
		return;
	qos = r->frame + r->at;
	if (is_bad || (subtype & DATA_QOS && !rewrite_copy(r, 2)))
		return;
	/* An A-MSDU begins with addresses: nothing behind the header is taken on trust. */
	if (subtype & DATA_QOS && qos[0] & QOS_AMSDU)
		return;
	if (subtype & DATA_QOS && flags & ORDER && !rewrite_copy(r, 4))
		return;
	if (subtype & DATA_NULL || !(flags & PROTECTED))
		return;
	if (!has_padding || rewrite_zero(r, -(r->at - begin) & 3))
		cipher_header(r);
}

/* ---- all ------------------------------------------------------------------------------------- */

void pseudonym_dot11(struct rewrite *r, bool has_padding, bool is_bad)
{
	const uint8_t *p = r->frame + r->at;
	unsigned int type, subtype, flags;

	if (!rewrite_peek(r, 2) || p[0] & 3 || !rewrite_copy(r, 4) || !rewrite_address(r))
		return;
	type = p[0] >> 2 & 3;
	subtype = p[0] >> 4;
	flags = p[1];
	if (type == MANAGEMENT)
		management(r, subtype, flags, is_bad);
	else if (type == CONTROL)
		control(r, subtype, flags, is_bad);
	else if (type == DATA)
		data(r, subtype, flags, has_padding, is_bad);
}
