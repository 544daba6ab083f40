// SPDX-License-Identifier: GPL-2.0
/* Prism and AVS headers: see radio.h. Prism interfaces deliver both (bpf/parse_dot11.h). */
#include <errno.h>

#include "bpf/view_phy.h"
#include "radio.h"
#include "wire/channel.h"

#define PRISM_ITEMS 24	  /* where they begin: after the code, the length and the device's name */
#define PRISM_ITEM_LEN 12 /* identifier 4, status 2, length 2, value 4 */
#define AVS_LEN 64	  /* version 1; version 2 is longer */
#define AVS_MAGIC 0x80211000u
#define AVS_DBM 2	    /* the unit of its signal and noise: dBm */
#define AVS_NONE 0xffffffff /* noise: not said */
#define AVS_SHORT 1	    /* preamble */
#define CHANNEL_NUMBER_MAX 255
#define MHZ_MAX 10000

enum { PRISM_CHANNEL = 3, PRISM_SIGNAL = 6, PRISM_NOISE = 7, PRISM_RATE = 8 };

/* Drivers give a channel's number or its frequency. */
static void set_channel(struct radio *r, unsigned int value)
{
	unsigned int mhz = value <= CHANNEL_NUMBER_MAX ? channel_mhz(value) : value;

	if (!mhz || mhz >= MHZ_MAX)
		return;
	r->sent.mhz = mhz;
	r->has |= DISSECT_FREQUENCY;
}

/* Sets a level in dBm; 0 means that the driver does not know it. */
static void set_level(struct radio *r, int *level, unsigned int value, unsigned int bit)
{
	int dbm = (int)value;

	if (dbm == 0 || dbm != (int8_t)dbm)
		return;
	*level = dbm;
	r->has |= bit;
}

static void set_item(struct radio *r, unsigned int which, unsigned int value)
{
	switch (which) {
	case PRISM_CHANNEL:
		set_channel(r, value);
		break;
	case PRISM_SIGNAL:
		if ((int)value < 0) /* some drivers give a number without a unit */
			set_level(r, &r->signal, value, DISSECT_SIGNAL);
		break;
	case PRISM_NOISE:
		if ((int)value < 0)
			set_level(r, &r->noise, value, DISSECT_NOISE);
		break;
	case PRISM_RATE:
		if (value < 256)
			r->sent.rate_kbps = value * 500;
		break;
	}
}

/* In the writer's byte order: the code, 0x44 or 0x41, tells it. The identifiers' values are in the
 * bits from 12 on or from 16 on. */
int radio_prism(struct radio *r, const struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 8);
	bool big;

	if (!p)
		return -EBADMSG;
	if ((parse_be32(p) & 0xfffff000u) == AVS_MAGIC)
		return radio_avs(r, f);
	big = p[0] == 0;
	r->len = big ? parse_be32(p + 4) : parse_le32(p + 4);
	if (r->len < 8 || !frame_at(f, 0, r->len))
		return -EBADMSG;
	for (unsigned int off = PRISM_ITEMS; off + PRISM_ITEM_LEN <= r->len;
	     off += PRISM_ITEM_LEN) {
		unsigned int id;

		p = f->data + off;
		id = big ? parse_be32(p) : parse_le32(p);
		if (p[4] || p[5])
			continue; /* the driver did not supply it */
		set_item(r, id & 0xffff0000 ? id >> 16 : id >> 12,
			 big ? parse_be32(p + 8) : parse_le32(p + 8));
	}
	view_legacy(&r->sent, 0, 0);
	return 0;
}

/* Big-endian: version 4, length 4, times 16, PHY 4, channel 4, rate 4, antenna 4, priority 4, unit
 * 4, signal 4, noise 4, preamble 4, encoding 4. */
int radio_avs(struct radio *r, const struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, AVS_LEN);
	unsigned int rate;

	if (!p)
		return -EBADMSG;
	r->len = parse_be32(p + 4);
	if (r->len < AVS_LEN || !frame_at(f, 0, r->len))
		return -EBADMSG;
	set_channel(r, parse_be32(p + 28));
	rate = parse_be32(p + 32); /* in 100 kb/s, or in b/s */
	r->sent.rate_kbps = rate < 100000 ? rate * 100 : rate / 1000;
	if (parse_be32(p + 44) == AVS_DBM) {
		r->signal = (int8_t)parse_be32(p + 48);
		r->has |= DISSECT_SIGNAL;
		if (parse_be32(p + 52) != AVS_NONE)
			set_level(r, &r->noise, parse_be32(p + 52), DISSECT_NOISE);
	}
	view_legacy(&r->sent, parse_be32(p + 56) == AVS_SHORT ? RADIOTAP_SHORT : 0, 0);
	return 0;
}
