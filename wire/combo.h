/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Combo frames: many captured frames in one unit of compression and export (Saluki paper,
 * section II-B). The agent appends and closes, the collector opens and takes next.
 *
 * On the wire (inside the seal), all integers in network order:
 *
 *     header, 16 bytes (the paper's Table IV): ver 2, amid 2, seqn 2, frn 2, dsz 4, mgc 4
 *     codec, 1 byte: COMBO_STORED or COMBO_ZSTD
 *     body, `dsz` bytes when uncompressed
 *
 * The body has what describes frames in columns, ahead of the frames' bytes, because like
 * compresses well next to like (10 to 15 % smaller than headers inline):
 *
 *     first    varint  frames this run exported before this combo
 *     base     8 bytes time stamp of the first frame, ns since 1970-01-01 UTC
 *     lengths of the three columns below, varints, bytes
 *     kinds    runs: varint frames, varint linktype, 1 byte interface, 1 byte direction
 *     times    a varint a frame, zigzag: ns since the frame before
 *     sizes    two varints a frame: bytes kept, bytes cut off (original length - kept)
 *     bytes    the frames, one after the other
 */
#ifndef WIRE_COMBO_H
#define WIRE_COMBO_H

#include <stddef.h>
#include <stdint.h>

#define COMBO_VERSION 1
#define COMBO_MAGIC 0x534c4b49u /* "SLKI" */
#define COMBO_HEADER_LEN 16
#define COMBO_CODEC_LEN 1

enum {
	COMBO_STORED = 0,
	COMBO_ZSTD = 1, /* one zstd frame without magic, checksum and content size */
};

/* Bounds of `--combo-size`, bytes of columns and frames. An empty combo takes any frame, so that
 * a body holds up to `--combo-size` or one frame of the largest snaplen, and what describes it. */
#define COMBO_SIZE_MIN 1024
#define COMBO_SIZE_MAX 32768
#define COMBO_SIZE_DEFAULT (14 * 1024) /* Saluki paper, section II-B */
#define COMBO_FRAMES_MAX 4096
#define COMBO_HEADROOM_MAX 128 /* preamble, and one frame's share of the columns */
#define COMBO_BODY_MAX (32768 + COMBO_HEADROOM_MAX)
/* Header, codec and body as sealed. Below 64 KB, so that 16 bits say where a piece belongs. */
#define COMBO_WIRE_MAX (COMBO_HEADER_LEN + COMBO_CODEC_LEN + COMBO_BODY_MAX)

struct combo_frame {
	uint64_t time_ns; /* ns since 1970-01-01 UTC */
	uint32_t orig_len;
	uint32_t kept_len;
	uint16_t linktype;
	uint8_t interface;
	uint8_t direction;   /* SALUKI_DIRECTION_ */
	const uint8_t *data; /* kept_len bytes; not owned */
};

/* ---- sensor: append and close --------------------------------------------------------------- */

struct combo_column {
	uint8_t *p;
	size_t len, cap;
};

/* A combo being built. All memory is taken in combo_init; append and close allocate nothing. */
struct combo {
	uint32_t frames;
	uint64_t first;	    /* set before combo_close */
	uint64_t opened_ns; /* CLOCK_MONOTONIC of the first frame, for the age */
	uint64_t mark;	    /* what the source gave for its end (source.h) */
	uint64_t base_ns, last_ns;
	uint64_t run_frames; /* frames of the current run in `kinds` */
	uint16_t linktype;
	uint8_t interface, direction;
	struct combo_column kinds, times, sizes;
	uint8_t *room;	 /* headroom for the columns, then the frames' bytes */
	size_t headroom; /* bytes of `room` in front of the frames */
	size_t data_len, data_cap;
	size_t size;   /* --combo-size */
	uint8_t *body; /* after combo_close: inside `room` */
	size_t body_len;
};

/* Returns 0 or -ENOMEM. `size` is --combo-size, `snaplen` the most a frame brings. */
int combo_init(struct combo *c, size_t size, size_t snaplen);
void combo_free(struct combo *c); /* takes a zeroed combo too */
void combo_reset(struct combo *c);

/* Returns whether the frame still fits; an empty combo takes any frame up to the snaplen. */
int combo_fits(const struct combo *c, uint32_t kept_len);
/* Copies the frame in. The caller has asked combo_fits. */
void combo_append(struct combo *c, const struct combo_frame *f);
/* Lays columns and frames out as `body`, `body_len`. No frame byte is moved. */
void combo_close(struct combo *c);

/* Writes the 16-byte header. */
void combo_header_write(uint8_t out[COMBO_HEADER_LEN], uint16_t sensor_id, uint16_t seqn,
			uint16_t frames, uint32_t body_len);

/* ---- collector: open and next ---------------------------------------------------------------- */

struct combo_header {
	uint16_t version, sensor_id, seqn, frames;
	uint32_t body_len;
	uint8_t codec;
};

/* Reads header and codec of a combo of `len` bytes and checks what can be checked without the
 * body: magic, version, sensor, sizes against the limits. Returns 0 or -EBADMSG. */
int combo_header_read(struct combo_header *h, const uint8_t *in, size_t len, uint16_t sensor_id);

struct combo_reader {
	uint64_t first; /* frames exported before this combo */
	uint32_t frames_left;
	uint64_t time_ns;
	uint64_t run_left;
	uint16_t linktype;
	uint8_t interface, direction;
	const uint8_t *kinds, *kinds_end, *times, *times_end, *sizes, *sizes_end, *data, *data_end;
};

/* Opens a body of `len` bytes with `frames` frames, checking that every column holds exactly
 * what the header promised, so that combo_next cannot fail half way. Returns 0 or -EBADMSG. The
 * reader points into `body`. */
int combo_open(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames);
/* Returns 1 with the next frame (pointing into the body), 0 behind the last one, -EBADMSG. */
int combo_next(struct combo_reader *r, struct combo_frame *f);

#endif
