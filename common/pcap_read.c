// SPDX-License-Identifier: GPL-2.0
/*
 * Capture file reader: see pcap_read.h. In: untrusted bytes. Out: frames, or an error and its
 * offset. Always holds: no length from the file is used before it is checked.
 */
#include "pcap_read.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/record.h>

#define BUFFER_LEN (PCAP_BLOCK_MAX + 64 * 1024) /* holds the largest record */
/* The shortest section header. A pcap header with a frame is longer. A smaller file is at its
 * end. */
#define HEADER_MIN 28
#define NO_MEMORY "cannot be read for lack of memory"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OBSOLETE = 2,
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_PACKET = 6,
};

static int corrupt(struct pcap_reader *r, const char *why)
{
	r->why = why;
	return -EBADMSG;
}

/* Returns the bytes read, fewer than `len` only at the end of the file, or -errno. */
static long read_bytes(struct pcap_reader *r, void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t n = r->buffer_len - r->buffer_at;

		if (n == 0) {
			ssize_t got = read(r->fd, r->buffer, BUFFER_LEN);

			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0) {
				r->why = strerror(errno);
				return -errno;
			}
			if (got == 0)
				break;
			r->buffer_at = 0;
			r->buffer_len = n = got;
		}
		if (n > len - done)
			n = len - done;
		memcpy((uint8_t *)to + done, r->buffer + r->buffer_at, n);
		r->buffer_at += n;
		done += n;
	}
	r->offset += done;
	return done;
}

static int read_all(struct pcap_reader *r, void *to, size_t len)
{
	long n = read_bytes(r, to, len);

	if (n < 0)
		return n;
	return (size_t)n == len ? 0 : corrupt(r, "ends in the middle of a frame");
}

static uint32_t get32(const struct pcap_reader *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return r->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get16(const struct pcap_reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return r->swapped ? __builtin_bswap16(v) : v;
}

static uint64_t get64(const struct pcap_reader *r, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return r->swapped ? __builtin_bswap64(v) : v;
}

/* Returns the length of the block at `p`, with 12 bytes available. A section header has its own
 * byte order; 0 if it is invalid. */
static uint32_t block_len(const struct pcap_reader *r, const uint8_t *p)
{
	uint32_t magic, len;

	if (get32(r, p) != BLOCK_SECTION)
		return get32(r, p + 4);
	memcpy(&len, p + 4, 4);
	memcpy(&magic, p + 8, 4);
	return magic == 0x1a2b3c4d ? len : magic == 0x4d3c2b1a ? __builtin_bswap32(len) : 0;
}

/* Returns the bytes needed to read the next record or block, as far as known. The reader detects
 * impossible lengths. */
static size_t bytes_needed(const struct pcap_reader *r)
{
	const uint8_t *p = r->buffer + r->buffer_at;
	size_t have = r->buffer_len - r->buffer_at;
	uint32_t len;

	if (!r->started && (have < HEADER_MIN || get32(r, p) != BLOCK_SECTION))
		return HEADER_MIN;
	if (r->started && !r->is_pcapng) {
		len = have < 16 ? 0 : get32(r, p + 8);
		return 16 + (len > PCAP_BLOCK_MAX ? 0 : len);
	}
	len = have < 12 ? 0 : block_len(r, p);
	return len < 12 || len > PCAP_BLOCK_MAX ? 12 : (len + 3) & ~3u;
}

bool pcap_ready(struct pcap_reader *r, int timeout_ms)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };

	while (r->buffer_len - r->buffer_at < bytes_needed(r)) {
		ssize_t n;

		if (poll(&p, 1, timeout_ms) <= 0)
			return false;
		memmove(r->buffer, r->buffer + r->buffer_at, r->buffer_len - r->buffer_at);
		r->buffer_len -= r->buffer_at;
		r->buffer_at = 0;
		n = read(r->fd, r->buffer + r->buffer_len, BUFFER_LEN - r->buffer_len);
		if (n <= 0)
			return true; /* the end or an error, which the reader will meet */
		r->buffer_len += n;
	}
	return true;
}

/* In a ring this number marks a module's event. A file's frame must not look like one. */
static int check_linktype(struct pcap_reader *r, uint16_t linktype)
{
	return linktype == SALUKI_LINKTYPE_EVENT
		       ? corrupt(r, "has link type 65535, which does not exist")
		       : 0;
}

/* Makes room for one more interface. */
static int interface_room(struct pcap_reader *r)
{
	unsigned int room = 2 * r->interface_room;
	struct pcap_interface *more;

	if (r->interface_count < r->interface_room)
		return 0;
	if (r->interface_room >= r->interface_limit)
		return corrupt(r, r->interface_limit > PCAP_INTERFACES_MAX
					  ? "has more than 65536 interfaces in a section"
					  : "has more than 256 interfaces in a section");
	more = realloc(r->interfaces, room * sizeof(*more));
	if (!more) {
		r->why = NO_MEMORY;
		return -ENOMEM;
	}
	r->interfaces = more;
	r->interface_room = room;
	return 0;
}

/* Counts an interface that is described completely. */
static int interface_described(struct pcap_reader *r, const char *name, size_t len)
{
	uint32_t number = r->interface_count++;
	int err = r->described ? r->described(r->context, number, r->interfaces[number].linktype,
					      name, len)
			       : 0;

	if (err)
		r->why = NO_MEMORY;
	return err;
}

/* ---- pcap ------------------------------------------------------------------------------------ */

static int pcap_header(struct pcap_reader *r, uint32_t magic)
{
	uint8_t h[20];
	bool nano = magic == 0xa1b23c4d || magic == 0x4d3cb2a1;
	int err;

	r->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	if (!nano && magic != 0xa1b2c3d4 && magic != 0xd4c3b2a1)
		return corrupt(r, "is not a pcap or pcapng file");
	err = read_all(r, h, sizeof(h));
	if (err)
		return err == -EBADMSG ? corrupt(r, "is shorter than a pcap header") : err;
	if (get16(r, h) != 2)
		return corrupt(r, "has a pcap version other than 2");
	/* The upper bits may describe a frame check sequence. */
	r->interfaces[0].linktype = get32(r, h + 16) & 0xffff;
	r->interfaces[0].ticks = nano ? 1000000000 : 1000000;
	err = check_linktype(r, r->interfaces[0].linktype);
	return err ? err : interface_described(r, NULL, 0);
}

static int pcap_next_record(struct pcap_reader *r, struct pcap_frame *f)
{
	uint8_t h[16];
	long n = read_bytes(r, h, sizeof(h));
	uint64_t fraction;
	int err;

	if (n <= 0)
		return n;
	if (n < (long)sizeof(h))
		return corrupt(r, "ends in the middle of a frame");
	fraction = get32(r, h + 4);
	f->time_ns =
		get32(r, h) * 1000000000ULL + fraction * (1000000000ULL / r->interfaces[0].ticks);
	f->cap_len = get32(r, h + 8);
	f->orig_len = get32(r, h + 12);
	f->linktype = r->interfaces[0].linktype;
	f->interface = 0;
	f->data = r->block;
	if (f->cap_len > PCAP_BLOCK_MAX)
		return corrupt(r, "has a frame longer than 1 MiB");
	err = read_all(r, r->block, f->cap_len);
	if (f->orig_len < f->cap_len)
		f->orig_len = f->cap_len; /* some writers leave 0 */
	return err ? err : 1;
}

/* ---- pcapng ---------------------------------------------------------------------------------- */

static int section_header(struct pcap_reader *r)
{
	uint8_t h[8]; /* after the block type: total length, byte-order magic */
	uint32_t magic, len;
	int err = read_all(r, h, sizeof(h));

	if (err)
		return err == -EBADMSG ? corrupt(r, "ends in a section header") : err;
	memcpy(&magic, h + 4, 4);
	if (magic != 0x1a2b3c4d && magic != 0x4d3c2b1a)
		return corrupt(r, "has a section header without a byte-order magic");
	r->swapped = magic == 0x4d3c2b1a;
	len = get32(r, h);
	if (len < 28 || len > PCAP_BLOCK_MAX || len % 4)
		return corrupt(r, "has a section header of impossible length");
	err = read_all(r, r->block, len - 12);
	if (err)
		return err;
	if (get16(r, r->block) != 1)
		return corrupt(r, "has a pcapng version other than 1");
	r->interface_count = 0;
	return 0;
}

/* Returns the ticks per second of an if_tsresol option: a power of ten or, with bit 7, of two. */
static uint64_t tsresol(uint8_t v)
{
	uint64_t ticks = 1;

	if (v & 0x80)
		return (v & 0x7f) < 64 ? 1ULL << (v & 0x7f) : 0;
	while (v-- && ticks)
		ticks = ticks <= UINT64_MAX / 10 ? ticks * 10 : 0;
	return ticks;
}

static int interface_block(struct pcap_reader *r, const uint8_t *p, size_t len)
{
	struct pcap_interface *i;
	const char *name = NULL;
	size_t at = 8, name_len = 0;
	int err;

	if (len < 8)
		return corrupt(r, "has an interface block that is too short");
	err = interface_room(r);
	if (err)
		return err;
	i = &r->interfaces[r->interface_count];
	memset(i, 0, sizeof(*i));
	i->linktype = get16(r, p);
	err = check_linktype(r, i->linktype);
	if (err)
		return err;
	i->snaplen = get32(r, p + 4);
	i->ticks = 1000000;
	while (at + 4 <= len && get16(r, p + at)) {
		uint16_t code = get16(r, p + at), size = get16(r, p + at + 2);

		at += 4;
		if (size > len - at)
			return corrupt(r, "has an option longer than its block");
		if (code == 2) {
			name = (const char *)p + at;
			name_len = size;
		}
		if (code == 9 && size == 1)
			i->ticks = tsresol(p[at]);
		if (code == 14 && size == 8) /* if_tsoffset, seconds */
			i->offset_s = (int64_t)get64(r, p + at);
		at += (size + 3) & ~3u;
	}
	if (i->ticks == 0)
		return corrupt(r, "has an interface with an impossible time resolution");
	return interface_described(r, name, name_len);
}

#define NS_PER_S 1000000000ULL

/* Returns `fraction` * 10^9 / `ticks`; `fraction` < `ticks`. If the product exceeds 64 bits,
 * divides bit by bit, as some machines lack 128-bit integers. */
static uint64_t fraction_ns(uint64_t fraction, uint64_t ticks)
{
	uint64_t ns = 0, rest = 0;

	if (fraction <= UINT64_MAX / NS_PER_S)
		return fraction * NS_PER_S / ticks;
	for (uint64_t bit = 1 << 29; bit; bit >>= 1) {
		bool twice = rest >= ticks - rest, once;

		rest = twice ? rest - (ticks - rest) : 2 * rest;
		once = NS_PER_S & bit && rest >= ticks - fraction;
		if (NS_PER_S & bit)
			rest = once ? rest - (ticks - fraction) : rest + fraction;
		ns = 2 * ns + twice + once;
	}
	return ns;
}

static uint64_t stamp_ns(const struct pcap_interface *i, uint64_t t)
{
	return (t / i->ticks + (uint64_t)i->offset_s) * NS_PER_S +
	       fraction_ns(t % i->ticks, i->ticks);
}

/* The three packet blocks have their fields at different offsets. */
static int packet_block(struct pcap_reader *r, uint32_t type, const uint8_t *p, size_t len,
			struct pcap_frame *f)
{
	size_t head = type == BLOCK_PACKET_SIMPLE ? 4 : 20;
	const struct pcap_interface *i;
	uint32_t id = 0;

	if (len < head)
		return corrupt(r, "has a packet block that is too short");
	if (type == BLOCK_PACKET)
		id = get32(r, p);
	else if (type == BLOCK_PACKET_OBSOLETE)
		id = get16(r, p);
	if (id >= r->interface_count)
		return corrupt(r, "has a packet of an interface it does not describe");
	i = &r->interfaces[id];
	if (type == BLOCK_PACKET_SIMPLE) {
		f->time_ns = 0;
		f->orig_len = get32(r, p);
		f->cap_len = f->orig_len;
		if (i->snaplen && f->cap_len > i->snaplen)
			f->cap_len = i->snaplen;
		if (f->cap_len > len - head)
			f->cap_len = len - head;
	} else {
		f->time_ns = stamp_ns(i, (uint64_t)get32(r, p + 4) << 32 | get32(r, p + 8));
		f->cap_len = get32(r, p + 12);
		f->orig_len = get32(r, p + 16);
	}
	if (f->cap_len > len - head)
		return corrupt(r, "has a packet longer than its block");
	if (f->orig_len < f->cap_len)
		f->orig_len = f->cap_len;
	f->linktype = i->linktype;
	f->interface = id;
	f->data = p + head;
	return 1;
}

/* Reads blocks up to the next packet. */
static int pcapng_next_block(struct pcap_reader *r, struct pcap_frame *f)
{
	for (;;) {
		uint8_t h[8];
		uint32_t type, len;
		long n = read_bytes(r, h, 4);
		int err;

		if (n <= 0)
			return n;
		if (n < 4)
			return corrupt(r, "ends in the middle of a block");
		type = get32(r, h);
		if (type == BLOCK_SECTION) {
			err = section_header(r);
			if (err)
				return err;
			if (r->pipe && !pcap_ready(r, 0))
				return -EAGAIN;
			continue;
		}
		err = read_all(r, h + 4, 4);
		if (err)
			return err;
		len = get32(r, h + 4);
		if (len < 12 || len > PCAP_BLOCK_MAX)
			return corrupt(r, "has a block of impossible length");
		len = (len + 3) & ~3u;
		err = read_all(r, r->block, len - 8);
		if (err)
			return err;
		if (type == BLOCK_INTERFACE) {
			err = interface_block(r, r->block, len - 12);
			if (err)
				return err;
		} else if (type == BLOCK_PACKET || type == BLOCK_PACKET_SIMPLE ||
			   type == BLOCK_PACKET_OBSOLETE) {
			return packet_block(r, type, r->block, len - 12, f);
		}
		if (r->pipe && !pcap_ready(r, 0))
			return -EAGAIN;
	}
}

/* ---------------------------------------------------------------------------------------------- */

int pcap_init(struct pcap_reader *r, int fd)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->why = NO_MEMORY;
	r->block = malloc(PCAP_BLOCK_MAX);
	r->buffer = malloc(BUFFER_LEN);
	r->interface_limit = r->interface_room = PCAP_INTERFACES_MAX;
	r->interfaces = malloc(r->interface_room * sizeof(*r->interfaces));
	return r->block && r->buffer && r->interfaces ? 0 : -ENOMEM;
}

int pcap_start(struct pcap_reader *r)
{
	uint8_t magic_bytes[4];
	uint32_t magic;
	int err = read_all(r, magic_bytes, 4);

	r->started = true;
	if (err == -EBADMSG)
		return corrupt(r, r->offset ? "is not a pcap or pcapng file" : "is empty");
	if (err)
		return err;
	memcpy(&magic, magic_bytes, 4);
	r->is_pcapng = magic == BLOCK_SECTION;
	return r->is_pcapng ? section_header(r) : pcap_header(r, magic);
}

int pcap_open(struct pcap_reader *r, int fd)
{
	int err = pcap_init(r, fd);

	return err ? err : pcap_start(r);
}

void pcap_close(struct pcap_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->block);
	free(r->buffer);
	free(r->interfaces);
	r->fd = -1;
	r->block = r->buffer = NULL;
	r->interfaces = NULL;
}

int pcap_next(struct pcap_reader *r, struct pcap_frame *f)
{
	return r->is_pcapng ? pcapng_next_block(r, f) : pcap_next_record(r, f);
}
