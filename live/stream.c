// SPDX-License-Identifier: GPL-2.0
/* Stream: see stream.h. */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/log.h"
#include "common/version.h"

enum {
	OPT_COMMENT = 1,
	SHB_OS = 3,
	SHB_APPLICATION = 4,
	ISB_RECEIVED = 4,
	ISB_ACCEPTED = 6,
	ISB_OS_DROPPED = 7,
};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Waits for a slow reader, after a stop until the timer fires. */
static void write_out(struct stream *s, const uint8_t *data, size_t len)
{
	while (len && !s->gone && !s->err) {
		ssize_t n = write(s->fd, data, len);

		if (n < 0 && errno == EINTR && *s->stop < STREAM_GIVE_UP)
			continue;
		if (n < 0) {
			s->gone = errno == EPIPE || errno == EINTR;
			s->err = s->gone ? 0 : -errno;
		} else {
			data += n;
			len -= n;
		}
	}
	if (s->err)
		log_line("%s: %s", s->name, strerror(-s->err));
}

void stream_flush(struct stream *s)
{
	if (!s->err)
		write_out(s, s->buffer, s->len);
	s->len = 0;
}

static void put(struct stream *s, const void *data, size_t len)
{
	if (s->len + len > STREAM_BUFFER)
		stream_flush(s);
	if (len > STREAM_BUFFER) {
		write_out(s, data, len);
		return;
	}
	memcpy(s->buffer + s->len, data, len);
	s->len += len;
}

static void put32(struct stream *s, uint32_t v)
{
	put(s, &v, 4);
}

bool stream_has_ended(struct stream *s)
{
	struct pollfd p = { .fd = s->fd };

	if (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)))
		s->gone = true;
	return s->gone || s->err;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A small block under construction. */
struct small {
	uint8_t bytes[1024];
	uint32_t len;
};

static void add(struct small *b, const void *data, uint32_t len)
{
	static const uint8_t zeros[4];

	memcpy(b->bytes + b->len, data, len);
	memcpy(b->bytes + b->len + len, zeros, -len & 3);
	b->len += len + (-len & 3);
}

static void add32(struct small *b, uint32_t v)
{
	add(b, &v, 4);
}

static void add_option(struct small *b, uint16_t code, const void *data, uint16_t len)
{
	const uint16_t head[2] = { code, len };

	add(b, head, 4);
	add(b, data, len);
}

static void finish(struct stream *s, struct small *b)
{
	add32(b, 0); /* the end of the options */
	add32(b, b->len + 4);
	memcpy(b->bytes + 4, &b->len, 4);
	put(s, b->bytes, b->len);
}

void stream_begin(struct stream *s)
{
	static const char application[] = "saluki-live " SALUKI_VERSION;
	const uint32_t head[] = { BLOCK_SECTION, 0, SECTION_MAGIC, 1, UINT32_MAX, UINT32_MAX };
	const uint16_t version[2] = { 1, 0 };
	struct small b = { .len = 0 };
	struct utsname u;
	char os[256];

	uname(&u);
	snprintf(os, sizeof(os), "%s %s %s", u.sysname, u.release, u.machine);
	add(&b, head, sizeof(head));
	memcpy(b.bytes + 12, version, sizeof(version));
	add_option(&b, SHB_OS, os, strlen(os));
	add_option(&b, SHB_APPLICATION, application, sizeof(application) - 1);
	finish(s, &b);
}

void stream_interface(struct stream *s, const uint8_t *block, uint32_t len)
{
	put(s, block, len);
}

void stream_packet(struct stream *s, const struct block *b, uint32_t interface)
{
	uint32_t kept = b->options - b->data, has_options = b->options_len ? 4 : 0;
	uint32_t len = 28 + kept + b->options_len + has_options + 4;

	put32(s, BLOCK_PACKET);
	put32(s, len);
	put32(s, interface);
	put(s, b->bytes + 12, 16); /* time, lengths */
	put(s, b->data, kept + b->options_len);
	if (has_options)
		put32(s, 0);
	put32(s, len);
}

void stream_clock(struct stream *s, const struct block *b, uint32_t interface)
{
	uint32_t len = 20 + b->options_len + 8;

	put32(s, BLOCK_STATISTICS);
	put32(s, len);
	put32(s, interface);
	put(s, b->bytes + 12, 8); /* time */
	put(s, b->options, b->options_len);
	put32(s, 0);
	put32(s, len);
}

void stream_statistics(struct stream *s, const struct interface *i, uint32_t number)
{
	uint64_t all = i->received + i->missed;
	struct small b = { .len = 0 };
	char comment[160];

	add32(&b, BLOCK_STATISTICS);
	add32(&b, 0);
	add32(&b, number);
	add32(&b, i->last_ns >> 32);
	add32(&b, (uint32_t)i->last_ns);
	add_option(&b, ISB_RECEIVED, &all, 8);
	add_option(&b, ISB_ACCEPTED, &i->accepted, 8);
	add_option(&b, ISB_OS_DROPPED, &i->missed, 8);
	snprintf(comment, sizeof(comment),
		 "this viewer was too slow for %llu frames; the collector's files have them",
		 (unsigned long long)i->missed);
	if (i->missed)
		add_option(&b, OPT_COMMENT, comment, strlen(comment));
	finish(s, &b);
}
