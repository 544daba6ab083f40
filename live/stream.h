/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stream: writes a single pcapng section, because Wireshark assigns frames after a second section
 * header to the first section's interfaces. In: blocks. Out: a file, a pipe or a FIFO.
 */
#ifndef LIVE_STREAM_H
#define LIVE_STREAM_H

#include <signal.h>
#include <stdbool.h>

#include "block.h"
#include "interfaces.h"

#define STREAM_BUFFER (256 * 1024)
#define STREAM_GIVE_UP 2

struct stream {
	int fd;
	const char *name;		   /* in messages */
	const volatile sig_atomic_t *stop; /* STREAM_GIVE_UP ends the wait for a reader */
	size_t len;
	bool gone; /* the pipe has no reader */
	int err;   /* -errno of a write that failed, else 0 */
	uint8_t buffer[STREAM_BUFFER];
};

/* Writes the section header. */
void stream_begin(struct stream *s);
void stream_interface(struct stream *s, const uint8_t *block, uint32_t len);
/* A packet of at most LIVE_RECORD_MAX bytes. */
void stream_packet(struct stream *s, const struct block *b, uint32_t interface);
/* A block about a sensor's clock. */
void stream_clock(struct stream *s, const struct block *b, uint32_t interface);
/* A statistics block. */
void stream_statistics(struct stream *s, const struct interface *i, uint32_t number);
/* Writes the buffered bytes. */
void stream_flush(struct stream *s);
/* Whether nothing can be written any more: a reader has gone, or a write failed. */
bool stream_has_ended(struct stream *s);

#endif
