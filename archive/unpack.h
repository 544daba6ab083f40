/* SPDX-License-Identifier: GPL-2.0 */
/* Unpack: reads a compressed file from its begin to its end. In: an untrusted file of one or more
 * zstd frames (RFC 8878). Out: its content, as blocks.h reads it. */
#ifndef ARCHIVE_UNPACK_H
#define ARCHIVE_UNPACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unpack;

/* Returns NULL without memory. The descriptor stays the caller's. */
struct unpack *unpack_new(int fd);
void unpack_free(struct unpack *u);
/* A blocks_read (pcapng/blocks.h). `at` is never lower than the end of the last call's bytes: what
 * is between is unpacked, and dropped. Returns -EBADMSG for damaged or truncated input; -EINTR
 * after a signal (common/stop.h), because a small file can have much content. */
ssize_t unpack_read(void *unpack, uint8_t *to, size_t len, uint64_t at);

#endif
