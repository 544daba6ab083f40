// SPDX-License-Identifier: GPL-2.0
/* Identity: see identity.h. In: untrusted bytes. */
#include "identity.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum { TYPE_MANAGEMENT, TYPE_CONTROL, TYPE_DATA };
enum { PROBE_RESPONSE = 5, BEACON = 8 };		       /* management */
enum { BAR = 8, BLOCK_ACK = 9, RTS = 11, CTS = 12, ACK = 13 }; /* control */
enum { NO_DATA = 4, QOS = 8 };				       /* bits of data's subtypes */
enum { TO_DS = 1, FROM_DS = 2, RETRY = 8, PROTECTED = 0x40, ORDER = 0x80 };

#define ACK_LEN 10     /* frame control, duration, one address */
#define CONTROL_LEN 16 /* and a second one */
#define MAC_LEN 24     /* and a third, and the sequence control */
#define FRAGMENT_AT 22
#define BEACON_LEN 36 /* and TSF, interval, capabilities */
#define CIPHER_LEN 8  /* of CCMP, GCMP and TKIP */
#define WEP_LEN 4
#define EXT_IV 0x20 /* in the fourth byte: of CIPHER_LEN bytes */
#define SNAP_LEN 8  /* LLC and SNAP */
#define IP_LEN 20   /* of an IPv4 or IPv6 header */
#define BODY_LEN 40 /* looked at behind the MAC header */

/* Bytes of the MAC header of a management or data frame. */
static size_t header_len(const uint8_t *mac)
{
	int type = mac[0] >> 2 & 3, subtype = mac[0] >> 4;
	size_t len = MAC_LEN;

	if (type == TYPE_DATA && (mac[1] & (TO_DS | FROM_DS)) == (TO_DS | FROM_DS))
		len += 6;
	if (type == TYPE_DATA && subtype & QOS)
		len += 2 + (mac[1] & ORDER ? 4 : 0);
	else if (type == TYPE_MANAGEMENT && mac[1] & ORDER)
		len += 4;
	return len;
}

/* The 48-bit packet number of CCMP and GCMP. */
static uint64_t packet_number(const uint8_t *p)
{
	return p[0] | p[1] << 8 | (uint64_t)p[4] << 16 | (uint64_t)p[5] << 24 |
	       (uint64_t)p[6] << 32 | (uint64_t)p[7] << 40;
}

static size_t control(struct identity *i)
{
	switch (i->mac[0] >> 4) {
	case BAR:
	case BLOCK_ACK:
		i->class = FRAME_BLOCK_ACK;
		return IDENTITY_BYTES;
	case ACK:
		i->class = FRAME_ACK;
		return ACK_LEN;
	case CTS:
		i->class = FRAME_CTS;
		return ACK_LEN;
	case RTS:
		i->class = FRAME_RTS;
		return CONTROL_LEN;
	default:
		i->class = FRAME_NULL;
		return CONTROL_LEN;
	}
}

static size_t management(struct identity *i)
{
	int subtype = i->mac[0] >> 4;

	i->tracks = true;
	i->class = FRAME_MANAGEMENT;
	if (subtype != BEACON && subtype != PROBE_RESPONSE)
		return header_len(i->mac) + BODY_LEN;
	i->class = FRAME_BEACON;
	i->finds = true;
	return BEACON_LEN;
}

/* A later fragment, or an A-MSDU: its body does not begin with LLC, and --keep headers keeps none
 * of it. */
static bool is_part(const uint8_t *mac, size_t header)
{
	const uint8_t *qos = mac + header - (mac[1] & ORDER ? 6 : 2);

	return mac[FRAGMENT_AT] & 15 || (mac[0] >> 4 & QOS && *qos & 0x80);
}

/* Bytes of an unprotected body that --keep headers always keeps, if they are there. */
static size_t plain_len(const uint8_t *body, int len)
{
	static const uint8_t snap[6] = { 0xaa, 0xaa, 3 };
	int type;

	if (len < SNAP_LEN || memcmp(body, snap, sizeof(snap)))
		return 0;
	type = body[6] << 8 | body[7];
	return SNAP_LEN + (type == 0x0800 || type == 0x86dd ? IP_LEN : 0);
}

static size_t data(struct identity *i)
{
	size_t header = header_len(i->mac);

	if (i->mac[0] >> 4 & NO_DATA) {
		i->class = FRAME_NULL;
		return header;
	}
	i->class = FRAME_DATA;
	i->tracks = true;
	if (!(i->mac[1] & PROTECTED))
		return header + (is_part(i->mac, header)
					 ? 0
					 : plain_len(i->mac + header, i->mac_len - (int)header));
	if (i->mac_len >= header + WEP_LEN && !(i->mac[header + 3] & EXT_IV))
		return header + WEP_LEN;
	i->finds = i->mac_len >= header + CIPHER_LEN &&
		   packet_number(i->mac + header) >= IDENTITY_PN_LEAST;
	return header + CIPHER_LEN;
}

/* Sets class and uses. Returns the number of bytes that make the key. */
static size_t classify(struct identity *i)
{
	int type = i->mac[0] >> 2 & 3;
	size_t len = type == TYPE_CONTROL      ? control(i)
		     : type == TYPE_MANAGEMENT ? management(i)
		     : type == TYPE_DATA       ? data(i)
					       : CONTROL_LEN;

	if (type == 3) /* extension frames */
		i->class = FRAME_NULL;
	if (type != TYPE_CONTROL && type != 3 && i->class != FRAME_NULL && i->mac[1] & RETRY) {
		i->class = FRAME_RETRY;
		i->finds = i->tracks = false;
	}
	return len;
}

/* Removes the padding behind the MAC header, which some radios add in memory. */
static void unpad(struct identity *i)
{
	size_t header = (i->mac[0] >> 2 & 3) == TYPE_CONTROL ? 0 : header_len(i->mac);
	size_t pad = -header & 3;

	if (!pad || header + pad > i->mac_len || header + pad > i->length)
		return;
	i->mac_len -= pad;
	i->length -= pad;
	memmove(i->mac + header, i->mac + header + pad, i->mac_len - header);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int identity_read(struct identity *i, const struct radiotap *r, const uint8_t *frame, size_t kept,
		  size_t whole, const uint8_t secret[IDENTITY_SECRET])
{
	size_t fcs = r->has_fcs ? 4 : 0, len;
	uint8_t hash[crypto_shorthash_BYTES];

	i->finds = i->tracks = false;
	if (kept > whole || whole < r->len + fcs + ACK_LEN || kept < r->len + (size_t)ACK_LEN)
		return -EBADMSG;
	i->length = whole - r->len - fcs;
	i->mac_len = least(least(kept - r->len, i->length), sizeof(i->mac));
	memcpy(i->mac, frame + r->len, i->mac_len);
	memset(i->mac + i->mac_len, 0, sizeof(i->mac) - i->mac_len);
	if (i->mac[0] & 3 && !r->bad_fcs) /* another protocol version */
		return -EBADMSG;
	if (r->padded)
		unpad(i);
	i->mac_len = least(i->mac_len, IDENTITY_BYTES);
	len = least(least(classify(i), IDENTITY_BYTES), i->length);
	if (r->bad_fcs) {
		i->class = FRAME_BAD_FCS;
		i->finds = i->tracks = false;
		len = least(len, i->mac_len);
	}
	if (len > i->mac_len)
		return -EBADMSG;
	crypto_shorthash(hash, (const uint8_t *)&i->length, sizeof(i->length) + len, secret);
	memcpy(&i->key, hash, sizeof(i->key));
	return 0;
}

const uint8_t *identity_receiver(const struct identity *i)
{
	return i->mac_len >= ACK_LEN ? i->mac + 4 : NULL;
}

const uint8_t *identity_transmitter(const struct identity *i)
{
	if (i->class == FRAME_ACK || i->class == FRAME_CTS || i->mac_len < CONTROL_LEN)
		return NULL;
	return i->mac + 10;
}

const char *frame_class_word(enum frame_class class)
{
	static const char *const words[FRAME_CLASSES] = {
		[FRAME_BEACON] = "beacon", [FRAME_MANAGEMENT] = "management",
		[FRAME_DATA] = "data",	   [FRAME_RETRY] = "retry",
		[FRAME_ACK] = "ack",	   [FRAME_CTS] = "cts",
		[FRAME_RTS] = "rts",	   [FRAME_BLOCK_ACK] = "block_ack",
		[FRAME_NULL] = "null",	   [FRAME_BAD_FCS] = "bad_fcs",
	};

	return class < FRAME_CLASSES ? words[class] : "unknown";
}
