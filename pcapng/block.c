// SPDX-License-Identifier: GPL-2.0
/* Block: see block.h. */
#include "block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "section.h"

#define LEAST 12
#define SECTION_LEAST 28
#define INTERFACE_LEAST 20
#define SIMPLE_LEAST 16
#define STATISTICS_LEAST 24
#define PACKET_LEAST 32
#define SECOND_NS 1000000000ULL

enum { COMMENT = 1, IF_NAME = 2, IF_DESCRIPTION = 3, IF_TSRESOL = 9, IF_TSOFFSET = 14 };

static uint32_t get32(const struct pcapng_block *b, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return b->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get16(const struct pcapng_block *b, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return b->swapped ? __builtin_bswap16(v) : v;
}

static uint32_t least_len(uint32_t type)
{
	return type == BLOCK_SECTION	  ? SECTION_LEAST
	       : type == BLOCK_INTERFACE  ? INTERFACE_LEAST
	       : type == BLOCK_STATISTICS ? STATISTICS_LEAST
	       : type == BLOCK_PACKET	  ? PACKET_LEAST
	       : type == BLOCK_OLD_PACKET ? PACKET_LEAST
	       : type == BLOCK_SIMPLE	  ? SIMPLE_LEAST
					  : LEAST;
}

/* An old packet block differs only in the size of its interface's number. */
static int packet(struct pcapng_block *b, const uint8_t *p)
{
	uint32_t room = b->len - PACKET_LEAST, padded;

	b->interface = b->type == BLOCK_PACKET ? get32(b, p + 8) : get16(b, p + 8);
	b->type = BLOCK_PACKET;
	b->ticks = (uint64_t)get32(b, p + 12) << 32 | get32(b, p + 16);
	b->kept = get32(b, p + 20);
	b->whole = get32(b, p + 24);
	b->frame = p + PACKET_LEAST - 4;
	padded = (b->kept + 3) & ~3u;
	if (b->kept > PCAPNG_FRAME_MAX || b->kept > room || padded > room)
		return -EBADMSG;
	b->options = b->frame + padded;
	return 0;
}

int64_t pcapng_block(struct pcapng_block *b, const uint8_t *p, size_t len, bool *swapped)
{
	uint32_t magic;

	if (len < LEAST)
		return 0;
	memcpy(&b->type, p, 4);
	if (b->type == BLOCK_SECTION) {
		memcpy(&magic, p + 8, 4);
		if (magic != SECTION_MAGIC && magic != __builtin_bswap32(SECTION_MAGIC))
			return -EBADMSG;
		*swapped = magic != SECTION_MAGIC;
	}
	b->swapped = *swapped;
	b->type = get32(b, p);
	b->len = get32(b, p + 4);
	if (b->len < least_len(b->type) || b->len > PCAPNG_BLOCK_MAX || b->len % 4)
		return -EBADMSG;
	if (b->len > len)
		return 0;
	b->end = p + b->len - 4;
	if (get32(b, b->end) != b->len)
		return -EBADMSG;
	b->options = b->end;
	if ((b->type == BLOCK_PACKET || b->type == BLOCK_OLD_PACKET) && packet(b, p))
		return -EBADMSG;
	if (b->type == BLOCK_STATISTICS)
		b->interface = get32(b, p + 8);
	if (b->type == BLOCK_STATISTICS || b->type == BLOCK_INTERFACE || b->type == BLOCK_SECTION)
		b->options = p + least_len(b->type) - 4;
	if (b->type == BLOCK_INTERFACE) {
		b->frame = p + 8; /* its link type */
		b->kept = 2;
	}
	return b->len;
}

bool pcapng_option(struct pcapng_block *b, struct pcapng_option *o)
{
	size_t left = b->end - b->options;

	if (left < 4)
		return false;
	o->code = get16(b, b->options);
	o->len = get16(b, b->options + 2);
	o->value = b->options + 4;
	if (!o->code || ((o->len + 3u) & ~3u) > left - 4)
		return false;
	b->options += 4 + ((o->len + 3u) & ~3u);
	return true;
}

static void copy_text(char *out, size_t size, const struct pcapng_option *o)
{
	size_t len = o->len < size ? o->len : size - 1;

	memcpy(out, o->value, len);
	out[len] = 0;
}

/* Resolutions of more than 2^63 or 10^19 units a second do not exist. */
static uint64_t resolution_of(uint8_t v)
{
	uint64_t ticks = 1;

	if (v & 0x80)
		return (v & 0x7f) < 63 ? 1ULL << (v & 0x7f) : SECOND_NS;
	for (int i = 0; i < v && i < 19; i++)
		ticks *= 10;
	return ticks;
}

void pcapng_interface(struct pcapng_block *b, struct pcapng_interface *i)
{
	struct pcapng_option o;

	*i = (struct pcapng_interface){ .ticks = 1000000 };
	i->linktype = get16(b, b->frame);
	while (pcapng_option(b, &o)) {
		if (o.code == IF_NAME)
			copy_text(i->name, sizeof(i->name), &o);
		else if (o.code == IF_DESCRIPTION)
			copy_text(i->description, sizeof(i->description), &o);
		else if (o.code == COMMENT)
			copy_text(i->comment, sizeof(i->comment), &o);
		else if (o.code == IF_TSRESOL && o.len == 1)
			i->ticks = resolution_of(*o.value);
		else if (o.code == IF_TSOFFSET && o.len == 8)
			i->offset_s = b->swapped ? (int64_t)((uint64_t)get32(b, o.value) << 32 |
							     get32(b, o.value + 4))
						 : (int64_t)(get32(b, o.value) |
							     (uint64_t)get32(b, o.value + 4) << 32);
	}
}

int64_t pcapng_ns(uint64_t ticks, uint64_t resolution, int64_t offset_s)
{
	uint64_t s = (uint64_t)offset_s * SECOND_NS;

	if (resolution == SECOND_NS)
		return ticks + s;
	return s + ticks / resolution * SECOND_NS +
	       (uint64_t)((unsigned __int128)(ticks % resolution) * SECOND_NS / resolution);
}

bool pcapng_sensor(const char *description, char *name, size_t size, unsigned int *id)
{
	static const char begin[] = "sensor ", end[] = " (id ";
	const char *from = description + sizeof(begin) - 1, *to = NULL;

	if (strncmp(description, begin, sizeof(begin) - 1))
		return false;
	for (const char *p = from; (p = strstr(p, end)); p++)
		to = p; /* a name may have the word, too */
	if (!to || sscanf(to, " (id %u)", id) != 1 || *id > UINT16_MAX)
		return false;
	snprintf(name, size, "%.*s", (int)(to - from), from);
	return true;
}

/* The place is the last part of the comment, unless the sensor is in a group. Earlier parts are the
 * sensor's own words, so a sensor whose place the collector does not know can claim one. */
bool pcapng_floor(const char *comment, int32_t *floor)
{
	const char *end = comment + strlen(comment), *place = NULL;

	for (const char *p = comment; (p = strstr(p, SECTION_GROUP)); p++)
		end = p;
	for (const char *p = comment; (p = strstr(p, SECTION_PLACE)) && p < end; p++)
		place = p + strlen(SECTION_PLACE);
	return place && sscanf(place, SECTION_FLOOR "%" SCNd32, floor) == 1;
}
