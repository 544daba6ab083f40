// SPDX-License-Identifier: GPL-2.0
/* Frame columns: see frame_columns.h. */
#include "frame_columns.h"

#define RETRY 0x08 /* of the flags of frame control */
#define GROUP 0x01 /* of an address's first byte */

static void radio(struct table *t, int from, const struct dissection *d)
{
	static const char *const phys[] = { "", "dsss", "ofdm", "ht", "vht", "he" };

	if (d->has & DISSECT_FREQUENCY)
		table_int32(t, from + FRAME_FREQUENCY, d->frequency);
	if (d->has & DISSECT_SIGNAL)
		table_int32(t, from + FRAME_SIGNAL, d->signal);
	if (d->has & DISSECT_NOISE)
		table_int32(t, from + FRAME_NOISE, d->noise);
	if (d->has & DISSECT_RATE)
		table_int32(t, from + FRAME_RATE, (int32_t)d->rate_kbps);
	if (d->phy != DISSECT_PHY_UNKNOWN)
		table_text(t, from + FRAME_PHY, phys[d->phy], strlen(phys[d->phy]));
	if (d->has & DISSECT_MCS)
		table_int32(t, from + FRAME_MCS, d->mcs);
	if (d->has & DISSECT_STREAMS)
		table_int32(t, from + FRAME_STREAMS, d->streams);
	if (d->has & DISSECT_AIRTIME)
		table_int32(t, from + FRAME_AIRTIME, (int32_t)d->airtime_ns);
	if (d->has & DISSECT_FCS)
		table_bool(t, from + FRAME_BAD_FCS, d->bad_fcs);
}

static void mac(struct table *t, int from, const struct dissection *d)
{
	if (d->has & DISSECT_TYPE) {
		table_int32(t, from + FRAME_TYPE, d->type);
		table_int32(t, from + FRAME_SUBTYPE, d->subtype);
		table_int32(t, from + FRAME_FLAGS, d->flags);
		table_bool(t, from + FRAME_RETRY, d->flags & RETRY);
	}
	if (d->has & DISSECT_DURATION)
		table_int32(t, from + FRAME_DURATION, d->duration);
	if (d->has & DISSECT_SEQUENCE) {
		table_int32(t, from + FRAME_SEQUENCE, d->sequence);
		table_int32(t, from + FRAME_FRAGMENT, d->fragment);
	}
	if (d->ssid)
		table_text(t, from + FRAME_SSID, (const char *)d->ssid, d->ssid_len);
	if (d->has & DISSECT_ETHERTYPE)
		table_int32(t, from + FRAME_ETHERTYPE, d->ethertype);
	table_address(t, from + FRAME_RECEIVER, d->receiver);
	if (d->receiver)
		table_bool(t, from + FRAME_TO_GROUP, d->receiver[0] & GROUP);
	table_address(t, from + FRAME_TRANSMITTER, d->transmitter);
	table_address(t, from + FRAME_BSSID, d->bssid);
	table_address(t, from + FRAME_SOURCE, d->source);
	table_address(t, from + FRAME_DESTINATION, d->destination);
}

void frame_columns(struct table *t, int from, const struct row *r)
{
	table_int32(t, from + FRAME_LINKTYPE, r->interface->linktype);
	table_int32(t, from + FRAME_LENGTH, (int32_t)r->block->whole);
	table_int32(t, from + FRAME_KEPT, (int32_t)r->block->kept);
	radio(t, from, r->dissection);
	mac(t, from, r->dissection);
}
