// SPDX-License-Identifier: GPL-2.0
/* pcapng blocks, written: see pcapng.h. */
#include "pcapng.h"

#include <stdio.h>
#include <string.h>

#include <saluki/record.h>

#include "common/pcapng_format.h"
#include "wire/bytes.h"
#include "wire/channel.h"

enum {
	OPT_COMMENT = 1,
	SHB_OS = 3,
	SHB_APPLICATION = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_TSRESOL = 9,
	IF_FILTER = 11,
	IF_OS = 12,
	EPB_FLAGS = 2,
	ISB_START = 2,
	ISB_END = 3,
	ISB_RECEIVED = 4,
	ISB_DROPPED = 5,
	ISB_ACCEPTED = 6,
	ISB_OS_DROPPED = 7,
	ISB_DELIVERED = 8,
};

static uint8_t *put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, 2);
	return p + 2;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
	return p + 4;
}

/* Bytes, padded with zeros to a multiple of four. */
static uint8_t *put_padded(uint8_t *p, const void *data, size_t len)
{
	size_t pad = -len & 3;

	memcpy(p, data, len);
	memset(p + len, 0, pad);
	return p + len + pad;
}

static uint8_t *put_option(uint8_t *p, uint16_t code, const void *data, size_t len)
{
	return put_padded(put16(put16(p, code), len), data, len);
}

/* At most 1,000 bytes of text: five of them fit into PCAPNG_META_MAX. */
static uint8_t *put_text(uint8_t *p, uint16_t code, const char *text)
{
	return text && *text ? put_option(p, code, text, strnlen(text, 700)) : p;
}

/* A 64-bit stamp goes high half first, a counter in the file's byte order. */
static uint8_t *put_time(uint8_t *p, uint16_t code, uint64_t ns)
{
	return put32(put32(put16(put16(p, code), 8), ns >> 32), (uint32_t)ns);
}

static uint8_t *put_count(uint8_t *p, uint16_t code, uint64_t v)
{
	return put_option(p, code, &v, 8);
}

static uint8_t *block_begin(uint8_t *out, uint32_t type)
{
	return put32(out, type) + 4;
}

/* Ends the options, if any, and writes the block's length at both ends. */
static size_t block_end(uint8_t *out, uint8_t *p, int options)
{
	size_t len;

	if (options)
		p = put32(p, 0);
	len = p + 4 - out;
	put32(p, len);
	put32(out + 4, len);
	return len;
}

size_t pcapng_section(uint8_t *out, const char *os, const char *application, const char *ring,
		      const char *keep_free)
{
	uint8_t *p = block_begin(out, BLOCK_SECTION);

	p = put32(p, SECTION_MAGIC);
	p = put16(put16(p, 1), 0);
	p = put32(put32(p, 0xffffffff), 0xffffffff); /* length of the section: not known */
	p = put_text(p, OPT_COMMENT, ring);
	p = put_text(p, OPT_COMMENT, keep_free);
	p = put_text(p, SHB_OS, os);
	p = put_text(p, SHB_APPLICATION, application);
	return block_end(out, p, 1);
}

size_t pcapng_interface(uint8_t *out, const struct pcapng_interface *i)
{
	uint8_t *p = block_begin(out, BLOCK_INTERFACE), nanoseconds = 9;
	char filter[512] = "";

	p = put16(put16(p, i->linktype), 0);
	p = put32(p, i->snaplen);
	p = put_text(p, IF_NAME, i->name);
	p = put_text(p, IF_DESCRIPTION, i->description);
	p = put_option(p, IF_TSRESOL, &nanoseconds, 1);
	if (i->filter && *i->filter) { /* a first byte of 0: as text */
		strncpy(filter + 1, i->filter, sizeof(filter) - 2);
		p = put_option(p, IF_FILTER, filter, 1 + strlen(filter + 1));
	}
	p = put_text(p, IF_OS, i->os);
	p = put_text(p, OPT_COMMENT, i->comment);
	return block_end(out, p, 1);
}

static uint8_t *put_name(uint8_t *p, const struct combo_name *n)
{
	uint8_t data[NAME_LEN_REFUSED];

	store_be(data, ENTERPRISE, 4);
	store_be(data + 4, n->run, 8);
	store_be(data + 12, n->count, 8);
	store_be(data + 20, n->first, 8);
	store_be(data + 28, n->frames, 4);
	store_be(data + 32, n->sensor, 2);
	store_be(data + NAME_LEN, n->events, 2);
	store_be(data + NAME_LEN_EVENTS, n->refused, 4);
	return put_option(p, OPT_CUSTOM, data,
			  n->refused  ? NAME_LEN_REFUSED
			  : n->events ? NAME_LEN_EVENTS
				      : NAME_LEN);
}

size_t pcapng_packet(uint8_t *out, uint32_t interface, const struct combo_frame *f,
		     const struct combo_name *name)
{
	uint8_t *p = block_begin(out, BLOCK_PACKET);
	uint32_t flags = f->direction & 3; /* 1 inbound, 2 outbound, as SALUKI_DIRECTION_ */
	bool unsettled = f->direction & SALUKI_UNSETTLED;

	p = put32(p, interface);
	p = put32(put32(p, f->time_ns >> 32), (uint32_t)f->time_ns);
	p = put32(put32(p, f->kept_len), f->orig_len);
	p = put_padded(p, f->data, f->kept_len);
	if (flags)
		p = put_option(p, EPB_FLAGS, &flags, 4);
	if (unsettled)
		p = put_text(p, OPT_COMMENT, PCAPNG_UNSETTLED);
	if (name)
		p = put_name(p, name);
	return block_end(out, p, flags || unsettled || name);
}

static uint8_t *statistics_begin(uint8_t *out, uint32_t interface, uint64_t time_ns)
{
	uint8_t *p = put32(block_begin(out, BLOCK_STATISTICS), interface);

	return put32(put32(p, time_ns >> 32), (uint32_t)time_ns);
}

size_t pcapng_statistics(uint8_t *out, const struct pcapng_statistics *s)
{
	uint8_t *p = statistics_begin(out, s->interface, s->time_ns);

	if (s->start_ns)
		p = put_time(p, ISB_START, s->start_ns);
	p = put_time(p, ISB_END, s->time_ns);
	p = put_count(p, ISB_RECEIVED, s->received);
	p = put_count(p, ISB_DROPPED, s->dropped);
	p = put_count(p, ISB_ACCEPTED, s->accepted);
	p = put_count(p, ISB_OS_DROPPED, s->os_dropped);
	p = put_count(p, ISB_DELIVERED, s->delivered);
	p = put_text(p, OPT_COMMENT, s->comment);
	if (s->coverage)
		p = put_option(p, OPT_COMMENT, s->coverage, strlen(s->coverage));
	return block_end(out, p, 1);
}

/* The lowest error numbers are the same on all machines. */
#define ERRORS_ALIKE 34

static void dwell_text(char *text, size_t size, const struct dwell *d)
{
	const struct radio_channel channel = { d->mhz, d->width, d->center };
	char name[CHANNEL_TEXT_LEN];
	size_t len;

	channel_text(name, &channel);
	len = snprintf(text, size,
		       "channel %s (%u MHz, width %u, center %u), switch %llu ns, marked %llu",
		       name, d->mhz, d->width, d->center, (unsigned long long)d->switch_ns,
		       (unsigned long long)d->marked);
	if (d->up_ns)
		len += snprintf(text + len, size - len, ", up %llu ns",
				(unsigned long long)d->up_ns);
	if (d->error)
		snprintf(text + len, size - len, ", error %u%s%s", d->error,
			 d->error <= ERRORS_ALIKE ? ": " : "",
			 d->error <= ERRORS_ALIKE ? strerror(d->error) : "");
}

size_t pcapng_dwell(uint8_t *out, uint32_t interface, const struct dwell *d,
		    const struct combo_name *name)
{
	uint8_t *p = statistics_begin(out, interface, d->to_ns);
	char text[240];

	dwell_text(text, sizeof(text), d);
	p = put_time(p, ISB_START, d->from_ns);
	p = put_time(p, ISB_END, d->to_ns);
	p = put_count(p, ISB_RECEIVED, d->frames);
	p = put_text(p, OPT_COMMENT, text);
	if (name)
		p = put_name(p, name);
	return block_end(out, p, 1);
}

/* The clock option's first bytes: enterprise, and what it has. */
#define CLOCK_HEAD 5

static uint8_t *clock_begin(uint8_t *p, uint8_t what)
{
	store_be(p, ENTERPRISE, 4);
	p[4] = what;
	return p + CLOCK_HEAD;
}

static uint8_t *clock_number(uint8_t *p, uint64_t v)
{
	store_be(p, v, 8);
	return p + 8;
}

size_t pcapng_readings(uint8_t *out, uint32_t interface, const struct clock_readings *r,
		       const struct combo_name *name)
{
	const struct clock_reading *last = &r->list[r->count - 1], *c;
	uint8_t data[CLOCK_HEAD + sizeof(r->list)], *at = clock_begin(data, CLOCK_READINGS), *p;

	for (c = r->list; c <= last; c++) {
		at = clock_number(at, c->monotonic_ns);
		at = clock_number(at, c->realtime_minus_monotonic_ns);
		at = clock_number(at, c->raw_minus_monotonic_ns);
	}
	p = statistics_begin(out, interface,
			     last->monotonic_ns + last->realtime_minus_monotonic_ns);
	p = put_option(p, OPT_CLOCK, data, at - data);
	if (name)
		p = put_name(p, name);
	return block_end(out, p, 1);
}

size_t pcapng_watermark(uint8_t *out, uint32_t interface, uint64_t before_ns)
{
	uint8_t data[CLOCK_HEAD + 8], *p = statistics_begin(out, interface, before_ns);

	clock_number(clock_begin(data, CLOCK_WATERMARK), before_ns);
	return block_end(out, put_option(p, OPT_CLOCK, data, sizeof(data)), 1);
}

size_t pcapng_offset(uint8_t *out, uint32_t interface, const struct pcapng_clock_offset *o)
{
	uint8_t data[CLOCK_HEAD + 3 * 8], *at = clock_begin(data, CLOCK_OFFSET);
	uint8_t *p = statistics_begin(out, interface, o->realtime_ns + o->ahead_ns);

	at = clock_number(at, o->ahead_ns);
	at = clock_number(at, o->round_trip_ns);
	clock_number(at, o->realtime_ns);
	return block_end(out, put_option(p, OPT_CLOCK, data, sizeof(data)), 1);
}

void pcapng_set_interface(uint8_t *block, uint32_t interface)
{
	put32(block + 8, interface);
}

size_t pcapng_module_event(uint8_t *out, const char *line, size_t len,
			   const struct combo_name *name)
{
	uint8_t *p = put32(block_begin(out, BLOCK_CUSTOM), ENTERPRISE);

	store_be(p, len, 4);
	p = put_padded(p + 4, line, len);
	if (name)
		p = put_name(p, name);
	return block_end(out, p, name != NULL);
}
