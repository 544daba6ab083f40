// SPDX-License-Identifier: GPL-2.0
/* Block: see block.h. */
#include "block.h"

#include <errno.h>
#include <string.h>

#define PACKET_HEAD 28 /* before a packet's bytes */
#define STATISTICS_HEAD 20
#define INTERFACE_HEAD 16
#define OPTION_NAME 2

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint32_t padded(uint32_t len)
{
	return (len + 3) & ~3u;
}

/* Takes one option. Returns its bytes with padding, or 0 at the end or if it is malformed. */
static uint32_t option(const uint8_t *p, size_t left, uint16_t head[2])
{
	if (left < 4)
		return 0;
	memcpy(head, p, 4);
	return head[0] && padded(head[1]) <= left - 4 ? 4 + padded(head[1]) : 0;
}

/* A combo's name is its first block's last option. */
static uint32_t options_without_name(const uint8_t *p, uint32_t left)
{
	uint32_t at = 0, len;
	uint16_t head[2];

	while ((len = option(p + at, left - at, head)) && head[0] != OPT_CUSTOM)
		at += len;
	return at;
}

static int packet_read(struct block *b)
{
	uint32_t room = b->len - PACKET_HEAD - 4;

	b->time_ns = (uint64_t)get32(b->bytes + 12) << 32 | get32(b->bytes + 16);
	b->kept_len = get32(b->bytes + 20);
	b->orig_len = get32(b->bytes + 24);
	b->data = b->bytes + PACKET_HEAD;
	if (b->kept_len > room || padded(b->kept_len) > room)
		return -EBADMSG;
	b->options = b->data + padded(b->kept_len);
	b->options_len = options_without_name(b->options, room - padded(b->kept_len));
	return 0;
}

static void statistics_read(struct block *b)
{
	uint16_t head[2];

	b->options = b->bytes + STATISTICS_HEAD;
	b->options_len = options_without_name(b->options, b->len - STATISTICS_HEAD - 4);
	b->is_clock = option(b->options, b->options_len, head) && head[0] == OPT_CLOCK;
}

int block_read(struct block *b, const uint8_t *bytes, size_t len)
{
	uint32_t least;

	*b = (struct block){ .bytes = bytes };
	if (len < 12)
		return -EBADMSG;
	b->type = get32(bytes);
	b->len = get32(bytes + 4);
	least = b->type == BLOCK_PACKET	      ? PACKET_HEAD + 4
		: b->type == BLOCK_STATISTICS ? STATISTICS_HEAD + 4
					      : 12;
	if (b->len < least || b->len > len || b->len % 4 || get32(bytes + b->len - 4) != b->len)
		return -EBADMSG;
	if (b->type == BLOCK_PACKET || b->type == BLOCK_STATISTICS)
		b->interface = get32(bytes + 8);
	if (b->type == BLOCK_PACKET && packet_read(b))
		return -EBADMSG;
	if (b->type == BLOCK_STATISTICS)
		statistics_read(b);
	return b->len;
}

int block_interface(const uint8_t *bytes, size_t len, uint16_t *linktype, char *name, size_t size)
{
	uint32_t at = INTERFACE_HEAD, n;
	uint16_t head[2];

	if (len < INTERFACE_HEAD + 4 || len % 4 || get32(bytes) != BLOCK_INTERFACE ||
	    get32(bytes + 4) != len || get32(bytes + len - 4) != len)
		return -EBADMSG;
	memcpy(linktype, bytes + 8, 2);
	*name = 0;
	while ((n = option(bytes + at, len - 4 - at, head))) {
		size_t named = head[1] < size ? head[1] : size - 1;

		if (head[0] == OPTION_NAME) {
			memcpy(name, bytes + at + 4, named);
			name[named] = 0;
		}
		at += n;
	}
	return 0;
}
