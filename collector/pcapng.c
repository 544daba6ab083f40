// SPDX-License-Identifier: GPL-2.0
/* pcapng blocks: see pcapng.h. */
#include "pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/record.h>

#include "wire/bytes.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

#define BLOCK_MAX (1024 * 1024) /* no block of ours is larger, nor of other capture programs */

#define SECTION_MAGIC 0x1a2b3c4d
#define PACKET_HEAD 28	       /* in front of a packet's bytes */
#define PACKET_MAX (72 * 1024) /* no packet block of ours is larger */

/* The enterprise of examples (RFC 5612), and the name behind it. */
#define ENTERPRISE 32473
#define NAME_LEN 34

enum {
	OPT_COMMENT = 1,
	OPT_CUSTOM = 19373, /* binary, not to be copied */
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

/* End of options, where there were any, and the length at both ends. */
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

size_t pcapng_section(uint8_t *out, const char *os, const char *application)
{
	uint8_t *p = block_begin(out, BLOCK_SECTION);

	p = put32(p, SECTION_MAGIC);
	p = put16(put16(p, 1), 0);
	p = put32(put32(p, 0xffffffff), 0xffffffff); /* length of the section: not known */
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
	if (i->filter && *i->filter) { /* a first byte of 0 says: in words */
		strncpy(filter + 1, i->filter, sizeof(filter) - 2);
		p = put_option(p, IF_FILTER, filter, 1 + strlen(filter + 1));
	}
	p = put_text(p, IF_OS, i->os);
	p = put_text(p, OPT_COMMENT, i->comment);
	return block_end(out, p, 1);
}

static uint8_t *put_name(uint8_t *p, const struct combo_name *n)
{
	uint8_t data[NAME_LEN];

	store_be(data, ENTERPRISE, 4);
	store_be(data + 4, n->run, 8);
	store_be(data + 12, n->count, 8);
	store_be(data + 20, n->first, 8);
	store_be(data + 28, n->frames, 4);
	store_be(data + 32, n->sensor, 2);
	return put_option(p, OPT_CUSTOM, data, sizeof(data));
}

size_t pcapng_packet(uint8_t *out, uint32_t interface, const struct combo_frame *f,
		     const struct combo_name *name)
{
	uint8_t *p = block_begin(out, BLOCK_PACKET);
	uint32_t flags = f->direction & 3; /* 1 inbound, 2 outbound: SALUKI_DIRECTION_ alike */

	p = put32(p, interface);
	p = put32(put32(p, f->time_ns >> 32), (uint32_t)f->time_ns);
	p = put32(put32(p, f->kept_len), f->orig_len);
	p = put_padded(p, f->data, f->kept_len);
	if (flags)
		p = put_option(p, EPB_FLAGS, &flags, 4);
	if (name)
		p = put_name(p, name);
	return block_end(out, p, flags || name);
}

size_t pcapng_statistics(uint8_t *out, const struct pcapng_statistics *s)
{
	uint8_t *p = block_begin(out, BLOCK_STATISTICS);

	p = put32(p, s->interface);
	p = put32(put32(p, s->time_ns >> 32), (uint32_t)s->time_ns);
	if (s->start_ns)
		p = put_time(p, ISB_START, s->start_ns);
	p = put_time(p, ISB_END, s->time_ns);
	p = put_count(p, ISB_RECEIVED, s->received);
	p = put_count(p, ISB_DROPPED, s->dropped);
	p = put_count(p, ISB_ACCEPTED, s->accepted);
	p = put_count(p, ISB_OS_DROPPED, s->os_dropped);
	p = put_count(p, ISB_DELIVERED, s->delivered);
	p = put_text(p, OPT_COMMENT, s->comment);
	return block_end(out, p, 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

int pcapng_walk_init(struct pcapng_walk *w, int fd, int64_t from, int64_t len)
{
	*w = (struct pcapng_walk){ .fd = fd, .at = from, .len = len };
	w->window = malloc(PCAPNG_WINDOW);
	return w->window ? 0 : -ENOMEM;
}

void pcapng_walk_free(struct pcapng_walk *w)
{
	free(w->window);
	w->window = NULL;
}

/* Bytes of the file at `at`, fewer than the window has; NULL where they cannot be read. */
static const uint8_t *window_get(struct pcapng_walk *w, int64_t at, size_t len)
{
	ssize_t n;

	if (at < w->window_at || at + (int64_t)len > w->window_at + (int64_t)w->window_len) {
		n = pread(w->fd, w->window, PCAPNG_WINDOW, at);
		w->window_at = at;
		w->window_len = n < 0 ? 0 : n;
	}
	return len <= w->window_len ? w->window + (at - w->window_at) : NULL;
}

static uint32_t get32(const struct pcapng_walk *w, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return w->swapped ? __builtin_bswap32(v) : v;
}

static bool name_read(struct combo_name *n, const uint8_t *p, size_t len)
{
	if (len != NAME_LEN || load_be(p, 4) != ENTERPRISE)
		return false;
	n->run = load_be(p + 4, 8);
	n->count = load_be(p + 12, 8);
	n->first = load_be(p + 20, 8);
	n->frames = load_be(p + 28, 4);
	n->sensor = load_be(p + 32, 2);
	return true;
}

/* Looks for a name among the options of a packet block of `size` bytes. */
static bool packet_name(struct combo_name *n, const uint8_t *block, uint32_t size)
{
	const uint8_t *p = block + PACKET_HEAD, *end = block + size - 4;
	uint32_t kept;

	if (p > end)
		return false;
	memcpy(&kept, block + 20, 4);
	if (kept > end - p)
		return false;
	p += (kept + 3) & ~3u;
	while (end - p >= 4) {
		uint16_t head[2]; /* code, length */

		memcpy(head, p, 4);
		p += 4;
		if (head[0] == 0 || head[1] > end - p)
			return false;
		if (head[0] == OPT_CUSTOM && name_read(n, p, head[1]))
			return true;
		p += (head[1] + 3) & ~3;
	}
	return false;
}

static enum pcapng_kind kind_of(uint32_t type)
{
	return type == BLOCK_SECTION	 ? PCAPNG_SECTION
	       : type == BLOCK_INTERFACE ? PCAPNG_INTERFACE
	       : type == BLOCK_PACKET	 ? PCAPNG_PACKET
					 : PCAPNG_OTHER;
}

/* The byte order of a section is in it. */
static int section_order(struct pcapng_walk *w, const uint8_t *head)
{
	uint32_t magic;

	memcpy(&magic, head + 8, 4);
	if (magic != SECTION_MAGIC && magic != __builtin_bswap32(SECTION_MAGIC))
		return -EBADMSG;
	w->swapped = magic != SECTION_MAGIC;
	return 0;
}

int pcapng_walk_next(struct pcapng_walk *w, struct pcapng_block *b)
{
	const uint8_t *head, *end;
	uint32_t size;

	if (w->at + 12 > w->len)
		return 0;
	head = window_get(w, w->at, 12);
	if (!head)
		return -EIO;
	*b = (struct pcapng_block){ .at = w->at };
	if (get32(w, head) == BLOCK_SECTION && section_order(w, head))
		return -EBADMSG;
	b->kind = kind_of(get32(w, head));
	if (w->at == 0 && b->kind != PCAPNG_SECTION)
		return -EBADMSG;
	size = get32(w, head + 4);
	if (size < 12 || size > BLOCK_MAX)
		return -EBADMSG;
	size = (size + 3) & ~3u;
	if (w->at + size > w->len)
		return 0; /* the block that was being written */
	if (b->kind == PCAPNG_PACKET && !w->swapped && size <= PACKET_MAX) {
		head = window_get(w, w->at, size);
		if (!head)
			return -EIO;
		b->named = packet_name(&b->name, head, size);
	}
	end = window_get(w, w->at + size - 4, 4);
	if (!end)
		return -EIO;
	if (((get32(w, end) + 3) & ~3u) != size)
		return -EBADMSG;
	w->at += size;
	return 1;
}

/* A cut at any byte leaves whole blocks in front of it. */
int64_t pcapng_check(int fd, int64_t len)
{
	struct pcapng_walk w;
	struct pcapng_block b;
	int got = pcapng_walk_init(&w, fd, 0, len);

	while (!got && (got = pcapng_walk_next(&w, &b)) == 1)
		got = 0;
	pcapng_walk_free(&w);
	return got ? got : w.at == 0 && len > 0 && len < 12 ? -EBADMSG : w.at;
}
