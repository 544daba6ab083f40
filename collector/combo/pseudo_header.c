// SPDX-License-Identifier: GPL-2.0
/* Pseudo-header: see pseudo_header.h. */
#include "pseudo_header.h"

#include "wire/bytes.h"

enum {
	LINKTYPE_SUNATM = 123,
	LINKTYPE_MTP2_WITH_PHDR = 139,
	LINKTYPE_LINUX_IRDA = 144,
	LINKTYPE_LINUX_LAPD = 177,
	LINKTYPE_SITA = 196,
	LINKTYPE_ERF = 197,
	LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR = 201,
	LINKTYPE_PPP_WITH_DIR = 204,
	LINKTYPE_I2C_LINUX = 209,
	LINKTYPE_NFC_LLCP = 245,
	LINKTYPE_BLUETOOTH_LINUX_MONITOR = 254,
};

#define SLL_PROTOCOL_AT 14 /* in the cooked header of IrDA and LAPD; 2 bytes */

#define ERF_LEN 16    /* of the header; byte 8 is its type */
#define ERF_TYPE_AT 8 /* bit 7: an extension header follows; these have the same bit */
#define ERF_EXTENSION_LEN 8
#define ERF_SUBHEADER_MAX 4 /* after these; 0, 2 or 4 by type, but always 4 are required */

static const struct rule {
	uint16_t linktype, len;
	uint16_t protocol; /* at SLL_PROTOCOL_AT; 0: any */
} rules[] = {
	{ LINKTYPE_SUNATM, 4, 0 },
	{ LINKTYPE_MTP2_WITH_PHDR, 4, 0 },
	{ LINKTYPE_LINUX_IRDA, 16, 0x0017 },
	{ LINKTYPE_LINUX_LAPD, 16, 0x0030 },
	{ LINKTYPE_SITA, 5, 0 },
	{ LINKTYPE_ERF, ERF_LEN + ERF_SUBHEADER_MAX, 0 },
	{ LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR, 4, 0 },
	{ LINKTYPE_PPP_WITH_DIR, 1, 0 },
	{ LINKTYPE_I2C_LINUX, 5, 0 },
	{ LINKTYPE_NFC_LLCP, 2, 0 },
	{ LINKTYPE_BLUETOOTH_LINUX_MONITOR, 4, 0 },
};

static const struct rule *rule_find(uint16_t linktype)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].linktype == linktype)
			return &rules[i];
	return NULL;
}

/* Checks that all extension headers and room for the largest subheader are present. */
static bool erf_valid(const uint8_t *frame, size_t len)
{
	size_t at = ERF_LEN;

	for (uint8_t type = frame[ERF_TYPE_AT]; type & 0x80; at += ERF_EXTENSION_LEN) {
		if (len - at < ERF_EXTENSION_LEN)
			return false;
		type = frame[at];
	}
	return len - at >= ERF_SUBHEADER_MAX;
}

bool pseudo_header_has(uint16_t linktype)
{
	return rule_find(linktype) != NULL;
}

bool pseudo_header_valid(uint16_t linktype, const uint8_t *frame, size_t len)
{
	const struct rule *r = rule_find(linktype);

	if (!r)
		return true;
	if (len < r->len || (r->protocol && load_be(frame + SLL_PROTOCOL_AT, 2) != r->protocol))
		return false;
	return linktype != LINKTYPE_ERF || erf_valid(frame, len);
}
