// SPDX-License-Identifier: GPL-2.0
/* The dissector's input, in this machine's byte order: see feed.h. */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ULL
#define OVERHEAD_MAX 256 /* of a frame: its header, and its interface's description */

int feed_init(struct feed *f)
{
	memset(f, 0, sizeof(*f));
	f->bytes = malloc(FEED_LEN);
	return f->bytes ? 0 : -ENOMEM;
}

void feed_free(struct feed *f)
{
	free(f->bytes);
	f->bytes = NULL;
}

bool feed_has_room(const struct feed *f)
{
	return f->len + FEED_FRAME_MAX + OVERHEAD_MAX <= FEED_LEN;
}

static void put(struct feed *f, const void *bytes, size_t len)
{
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
}

static void put16(struct feed *f, uint16_t v)
{
	put(f, &v, 2);
}

static void put32(struct feed *f, uint32_t v)
{
	put(f, &v, 4);
}

static void pad(struct feed *f, size_t len)
{
	put(f, "\0\0\0", -len & 3);
}

/* Blocks have their length at both ends. */
static size_t block_begin(struct feed *f, uint32_t type)
{
	size_t at = f->len;

	put32(f, type);
	put32(f, 0);
	return at;
}

static void block_end(struct feed *f, size_t at)
{
	uint32_t len = f->len + 4 - at;

	put32(f, len);
	memcpy(f->bytes + at + 4, &len, 4);
}

void feed_begin(struct feed *f, bool pcapng, uint16_t linktype)
{
	size_t at;

	f->pcapng = pcapng;
	f->interfaces = 0;
	f->at = f->len = 0;
	if (pcapng) {
		at = block_begin(f, 0x0a0d0d0a);
		put32(f, 0x1a2b3c4d);
		put16(f, 1); /* version 1.0, */
		put16(f, 0);
		put32(f, -1); /* of unknown length */
		put32(f, -1);
		block_end(f, at);
		return;
	}
	put32(f, 0xa1b23c4d); /* nanoseconds */
	put16(f, 2);	      /* version 2.4 */
	put16(f, 4);
	put32(f, 0);
	put32(f, 0);
	put32(f, FEED_FRAME_MAX);
	put32(f, linktype);
}

static void feed_describe(struct feed *f, struct feed_interface *its)
{
	size_t at = block_begin(f, 1), len = strlen(its->name);

	put16(f, its->linktype);
	put16(f, 0);
	put32(f, FEED_FRAME_MAX);
	if (len) {
		put16(f, 2); /* if_name */
		put16(f, len);
		put(f, its->name, len);
		pad(f, len);
	}
	put16(f, 9); /* if_tsresol: 10^-9 */
	put16(f, 1);
	put(f, "\x09\0\0", 4);
	put32(f, 0);
	block_end(f, at);
	its->number = ++f->interfaces;
}

void feed_frame(struct feed *f, const struct pcap_frame *frame, struct feed_interface *its)
{
	uint32_t len = frame->cap_len < FEED_FRAME_MAX ? frame->cap_len : FEED_FRAME_MAX;
	size_t at;

	if (!f->pcapng) {
		put32(f, frame->time_ns / NS_PER_S);
		put32(f, frame->time_ns % NS_PER_S);
		put32(f, len);
		put32(f, frame->orig_len);
		put(f, frame->data, len);
		return;
	}
	if (!its->number)
		feed_describe(f, its);
	at = block_begin(f, 6);
	put32(f, its->number - 1);
	put32(f, frame->time_ns >> 32);
	put32(f, frame->time_ns);
	put32(f, len);
	put32(f, frame->orig_len);
	put(f, frame->data, len);
	pad(f, len);
	block_end(f, at);
}
