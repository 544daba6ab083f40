// SPDX-License-Identifier: GPL-2.0
/*
 * pcapng walk: see pcapng_walk.h. In: an untrusted file. Out: its blocks in order. Always holds: no
 * byte beyond the file's end or outside a block is read.
 */
#include "pcapng_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/pcapng_format.h"
#include "wire/bytes.h"

#define BLOCK_MAX (1024 * 1024) /* no capture program writes larger blocks */
#define PACKET_HEAD 28		/* before a packet's bytes */
#define STATISTICS_HEAD 20	/* before the options */
#define PACKET_MAX (72 * 1024)	/* our packet blocks are smaller */

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

/* Returns bytes of the file at `at`, fewer than the window's, or NULL on an error. */
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

/* Returns the begin of a block's options, or NULL. */
static const uint8_t *options_of(enum pcapng_kind kind, const uint8_t *block, const uint8_t *end)
{
	size_t head = kind == PCAPNG_PACKET	    ? PACKET_HEAD
		      : kind == PCAPNG_MODULE_EVENT ? MODULE_EVENT_HEAD
						    : STATISTICS_HEAD;
	uint32_t len = 0; /* bytes between head and options */

	if (head > (size_t)(end - block))
		return NULL;
	if (kind == PCAPNG_PACKET)
		memcpy(&len, block + 20, 4);
	else if (kind == PCAPNG_MODULE_EVENT)
		len = load_be(block + 12, 4);
	if (len > end - block - head)
		return NULL;
	return block + head + ((len + 3) & ~3u);
}

/* Searches the options of a block of `size` bytes for a name. */
static bool block_name(struct combo_name *n, enum pcapng_kind kind, const uint8_t *block,
		       uint32_t size)
{
	const uint8_t *end = block + size - 4, *p = options_of(kind, block, end);

	while (p && end - p >= 4) {
		uint16_t head[2]; /* code, length */

		memcpy(head, p, 4);
		p += 4;
		if (head[0] == 0 || head[1] > end - p)
			return false;
		if (head[0] == OPT_CUSTOM && combo_name_read(n, p, head[1]))
			return true;
		p += (head[1] + 3) & ~3;
	}
	return false;
}

static enum pcapng_kind kind_of(uint32_t type)
{
	return type == BLOCK_SECTION	  ? PCAPNG_SECTION
	       : type == BLOCK_INTERFACE  ? PCAPNG_INTERFACE
	       : type == BLOCK_PACKET	  ? PCAPNG_PACKET
	       : type == BLOCK_STATISTICS ? PCAPNG_STATISTICS
	       : type == BLOCK_CUSTOM	  ? PCAPNG_MODULE_EVENT
					  : PCAPNG_OTHER;
}

/* The section header has the byte order. */
static int section_order(struct pcapng_walk *w, const uint8_t *head)
{
	uint32_t magic;

	memcpy(&magic, head + 8, 4);
	if (magic != SECTION_MAGIC && magic != __builtin_bswap32(SECTION_MAGIC))
		return -EBADMSG;
	w->swapped = magic != SECTION_MAGIC;
	return 0;
}

/* Ignores others' custom blocks. */
static void module_event_read_block(struct pcapng_block *b, const uint8_t *block, uint32_t size)
{
	uint32_t enterprise = 0, len;

	memcpy(&enterprise, block + 8, size < MODULE_EVENT_HEAD + 4 ? 0 : 4);
	b->kind = enterprise == ENTERPRISE ? PCAPNG_MODULE_EVENT : PCAPNG_OTHER;
	len = b->kind == PCAPNG_MODULE_EVENT ? load_be(block + 12, 4) : 0;
	if (len && len <= size - MODULE_EVENT_HEAD - 4) {
		b->line = (const char *)block + MODULE_EVENT_HEAD;
		b->line_len = len;
	}
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
		return 0; /* an incompletely written block */
	if (b->kind >= PCAPNG_PACKET && !w->swapped && size <= PACKET_MAX) {
		head = window_get(w, w->at, size);
		if (!head)
			return -EIO;
		if (b->kind == PCAPNG_MODULE_EVENT)
			module_event_read_block(b, head, size);
		if (b->kind >= PCAPNG_PACKET)
			b->named = block_name(&b->name, b->kind, head, size);
	}
	end = window_get(w, w->at + size - 4, 4);
	if (!end)
		return -EIO;
	if (((get32(w, end) + 3) & ~3u) != size)
		return -EBADMSG;
	w->at += size;
	return 1;
}
