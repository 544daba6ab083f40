/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Combo frames: many captured frames in one unit of compression and export (Saluki paper, section
 * II-B), with events between them. Events are messages about frames and channels. The agent appends
 * and closes, the collector opens and takes next.
 *
 * On the wire (inside the seal), all integers in network order:
 *
 *     header, 16 bytes (the paper's Table IV): ver 2, amid 2, seqn 2, frn 2, dsz 4, mgc 4
 *     codec, 1 byte: COMBO_STORED, COMBO_ZSTD or COMBO_ZSTD_DOT11, perhaps with COMBO_DENSE
 *     body, `dsz` bytes when uncompressed
 *
 * The body has the frames' metadata in columns, before the frames' bytes, because similar values
 * compress better side by side:
 *
 *     first    varint  frames this run exported before this combo
 *     base     8 bytes time stamp of the first frame, ns since 1970-01-01 UTC
 *     unit     varint  of the column of times: 1 or 1000 ns
 *     present  varint  the columns that are not empty, bit 0 is the first
 *     lengths  of these columns, varints, bytes
 *     columns  in the order of `enum combo_column`, without `randoms`
 *     bytes    of frames, one after the other
 *     randoms  this column
 *
 * The columns of all frames:
 *
 *     kinds    runs: varint frames, varint linktype, 1 byte interface, 1 byte direction
 *              (record.h); at most COMBO_KINDS_MAX different pairs of linktype and interface
 *     times    a varint a frame, zigzag: units since the frame before
 *     kepts    varint: bytes kept
 *     cuts     a varint a frame: bytes cut off (original length - kept)
 *
 * A radiotap or raw 802.11 frame has one more byte in
 *
 *     forms    the number of the frame's form (dot11_templates.h), and then it has no bytes and no
 * `kepts`; 0 for a frame of a new form, which is stored with its fields at zero and becomes the
 * next number from 1 to DOT11_TEMPLATES_MAX (none if all are used); 255 for a new form that is
 * stored as differences from an earlier one of its length; 0 for a frame of more than
 * DOT11_TEMPLATES_LEN_MAX bytes, which is stored as it is
 *
 * A form that is stored as differences has no `kepts`. Behind the 255 in `forms` are
 *
 *     1 byte: forms that got a number after the earlier form
 *     a bit for each 8 bytes of the form, in whole bytes, the lowest bit first
 *     a byte for each of these 8 that differ, with a bit for each byte
 *
 * and its bytes are those that differ. Each frame of at most DOT11_TEMPLATES_LEN_MAX bytes has
 *
 *     clocks     varint, zigzag
 *     stamps     varint, zigzag
 *     aggregates varint, zigzag of 32 bits
 *     signals    1 byte for each
 *     sequences  varint, 16 bits: the fragment in the upper 4, zigzag of 12 bits below
 *     beacons    varint, zigzag
 *     packets    varint, zigzag of 48 bits
 *
 * each as the difference from the value that dot11_templates.h predicts, for forms that have the
 * field. Its `cuts` is such a difference too, zigzag of 32 bits.
 *
 * Ethernet frames have the columns `flows` to `heads` and checksums in `randoms`, and `kepts` and
 * `cuts` only where their template does not tell these (wired_templates.h). Other frames
 * are stored as they are. Tails that look random are in `randoms` (tails.h). The column
 *
 *     events   varint: frames of this combo since the event before, varint type, varint length,
 *              as many bytes; at most COMBO_EVENTS_MAX
 *
 * A combo has frames or events or both; without frames `base` is 0.
 */
#ifndef WIRE_COMBO_H
#define WIRE_COMBO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dot11_templates.h"
#include "tails.h"
#include "wired_templates.h"

#define COMBO_VERSION 4
#define COMBO_VERSION_WITHOUT_FLOWS                                                                \
	3 /* still read, as is 2, which has no column of events either */
#define COMBO_VERSION_OLDEST 2
#define COMBO_MAGIC 0x534c4b49u /* "SLKI" */
#define COMBO_HEADER_LEN 16
#define COMBO_CODEC_LEN 1

enum {
	COMBO_STORED = 0,
	COMBO_ZSTD = 1, /* one zstd frame without magic, checksum, content size and dictionary id */
	COMBO_ZSTD_DOT11 = 2, /* with the 802.11 dictionary (dictionary.h) */
	/* A flag of the latter two: 2 bytes of length follow, and as many bytes of the body's end,
	 * which do not compress, are stored behind the zstd frame. */
	COMBO_DENSE = 0x80,
};
#define COMBO_DENSE_LEN 2

/* Bounds of `--combo-size`, bytes of columns and frames. An empty combo takes any frame, so a body
 * holds up to `--combo-size`, or one frame of the largest snaplen and its metadata. */
#define COMBO_SIZE_MIN 1024
#define COMBO_SIZE_MAX 32768
#define COMBO_SIZE_DEFAULT (14 * 1024) /* Saluki paper, section II-B */
#define COMBO_FRAMES_MAX 4096
/* Pairs of link type and interface in a combo. Each may be new to the collector and cost it a
 * block.
 */
#define COMBO_KINDS_MAX 16
/* The most that a frame adds to all columns, except its own captured bytes: 88 for 802.11. An
 * Ethernet frame adds at most 81, if it is TCP with time stamps and no field is as expected. */
#define COMBO_FRAME_MAX 88
#define COMBO_EVENTS_MAX 256
#define COMBO_EVENT_MAX 512		 /* bytes of one */
#define COMBO_EVENT_HEAD_MAX (3 + 5 + 2) /* frames, type, length */
/* Most bytes of a combo's frames after decoding, as one stored form can stand for many frames. Ten
 * times the bytes of a full combo of real frames. */
#define COMBO_BYTES_MAX (256 * 1024)
#define COMBO_HEADROOM_MAX 256 /* preamble, and one frame's bytes in the columns */
#define COMBO_BODY_MAX (32768 + COMBO_HEADROOM_MAX)
/* Header, codec and body as sealed. Below 64 KB, so that a piece's offset has 16 bits. */
#define COMBO_WIRE_MAX (COMBO_HEADER_LEN + COMBO_CODEC_LEN + COMBO_BODY_MAX)

struct combo_frame {
	uint64_t time_ns; /* ns since 1970-01-01 UTC */
	uint32_t orig_len;
	uint32_t kept_len;
	uint16_t linktype;
	uint8_t interface;
	uint8_t direction;   /* SALUKI_DIRECTION_, and maybe SALUKI_UNSETTLED */
	const uint8_t *data; /* kept_len bytes; not owned */
};

/* Types of events. A collector counts and skips unknown types. */
enum {
	COMBO_EVENT_DWELL = 1, /* dwell.h */
	COMBO_EVENT_SAID = 2,  /* from a module: module_event.h */
	COMBO_EVENT_CLOCK = 3, /* clock_readings.h */
};

struct combo_event {
	uint32_t type; /* COMBO_EVENT_ */
	uint32_t len;
	const uint8_t *bytes; /* `len` of them, in the body */
};

/* ---- sensor: append and close --------------------------------------------------------------- */

enum combo_column {
	COMBO_KINDS,
	COMBO_TIMES,
	COMBO_KEPTS,
	COMBO_CUTS,
	COMBO_FORMS,
	COMBO_CLOCKS,
	COMBO_STAMPS,
	COMBO_AGGREGATES,
	COMBO_SIGNALS,
	COMBO_SEQUENCES,
	COMBO_BEACONS,
	COMBO_PACKETS,
	COMBO_FLOWS,	   /* 1 byte: first the number of templates; then a frame's template */
	COMBO_REFERENCES,  /* 1 byte: templates that a new one refers to */
	COMBO_MASKS,	   /* 1 byte: the fields that are not as expected */
	COMBO_RARES,	   /* 1 byte: more such bits */
	COMBO_TOTALS,	   /* 2 bytes: IP and UDP lengths */
	COMBO_IDS,	   /* 2 bytes: steps of IPv4 ids and ICMP sequence numbers */
	COMBO_SEQS,	   /* 4 bytes: difference from the expected TCP sequence number */
	COMBO_ACKS,	   /* 2 or 4 bytes, zigzag: difference from the peer's sequence number */
	COMBO_TCP_FLAGS,   /* 1 byte */
	COMBO_WINDOWS,	   /* 2 bytes */
	COMBO_TCP_STAMPS,  /* twice 2 or 4 bytes, zigzag */
	COMBO_ORIGINALS,   /* varint: original lengths */
	COMBO_DIFFERENCES, /* bits and bytes of heads */
	COMBO_HEADS,	   /* bytes of new templates */
	COMBO_EVENTS,
	COMBO_PLACES,  /* 2 bits for each long tail, if a tail looks random */
	COMBO_RANDOMS, /* behind the frames' bytes: checksums of 2 bytes, and random tails */
	COMBO_COLUMNS
};

/* The state of both kinds of templates in a combo. Only the open combo needs it. */
struct combo_templates {
	struct dot11_templates dot11;
	struct wired_templates wired;
	struct tails tails;
};

/* The pairs of link type and interface so far. */
struct combo_kinds {
	uint32_t count;
	uint32_t list[COMBO_KINDS_MAX]; /* link type << 8 | interface */
};

/* Notes a pair. Returns false if there is no room for a new one. */
bool combo_kinds_add(struct combo_kinds *k, uint16_t linktype, uint8_t interface);

/* A combo being built. All memory is taken in combo_init; append and close allocate nothing. */
struct combo {
	uint32_t frames, events;
	uint32_t event_frames; /* frames in front of the last event */
	uint64_t first;	       /* set before combo_close */
	uint64_t opened_ns;    /* CLOCK_MONOTONIC of the first frame or event, for the age */
	uint64_t base_ns, last_ns;
	uint64_t last_us;    /* of last_ns, if `divided` */
	uint32_t last_rest;  /* of that, ns */
	uint64_t run_frames; /* frames of the current run in `kinds` */
	uint16_t linktype;
	uint8_t interface, direction;
	bool fine;	  /* a time stamp is not in whole microseconds */
	bool divided;	  /* last_us and last_rest are known */
	bool has_forms;	  /* dot11 templates are in use */
	bool has_flows;	  /* wired templates are in use */
	bool has_tails;	  /* a tail is long */
	bool has_randoms; /* a tail looks random */
	struct {
		uint8_t *start, *end;
	} columns[COMBO_COLUMNS];
	size_t columns_len;  /* of all of them */
	size_t columns_safe; /* up to this columns_len, each has room for one more frame or event */
	uint8_t *columns_memory; /* up to `room` */
	size_t columns_size;	 /* the largest --combo-size for this memory */
	size_t kept_bytes;	 /* of all frames */
	struct combo_kinds seen;
	uint8_t *memory; /* all of it */
	uint8_t *room;	 /* headroom for the columns, then the frames' bytes */
	size_t headroom; /* bytes of `room` before the frames */
	size_t data_len, data_cap;
	size_t size;   /* --combo-size */
	uint8_t *body; /* after combo_close: inside `room` */
	size_t body_len;
	size_t dense_len; /* after combo_close: bytes at the body's end that do not compress */
	struct combo_templates *templates; /* perhaps another combo's */
};

/* Returns 0 or -ENOMEM. `size` is --combo-size, `snaplen` the longest frame. */
int combo_init(struct combo *c, size_t size, size_t snaplen);
/* The same for a combo that is never filled while `other` is: both use the memory of its templates,
 * which then stays in the cache. `other` is freed last. */
int combo_init_shared(struct combo *c, size_t size, size_t snaplen, const struct combo *other);
void combo_free(struct combo *c); /* takes a zeroed combo too */
void combo_reset(struct combo *c);

static inline bool combo_is_empty(const struct combo *c)
{
	return !c->frames && !c->events;
}

/* Returns whether the frame still fits; an empty combo takes any frame up to the snaplen. */
static inline bool combo_fits(const struct combo *c, uint32_t kept_len)
{
	if (combo_is_empty(c))
		return kept_len <= c->data_cap;
	return c->frames < COMBO_FRAMES_MAX && c->seen.count < COMBO_KINDS_MAX &&
	       c->kept_bytes + kept_len <= COMBO_BYTES_MAX &&
	       c->data_len + c->columns_len + COMBO_FRAME_MAX + kept_len <= c->size;
}

/* Copies the frame in. The caller has asked combo_fits. */
void combo_append(struct combo *c, const struct combo_frame *f);
/* Returns whether an event of `len` bytes still fits; an empty combo takes any up to
 * COMBO_EVENT_MAX. */
bool combo_event_fits(const struct combo *c, size_t len);
/* Copies an event in, after the frames so far. The caller has asked combo_event_fits. */
void combo_event(struct combo *c, uint32_t type, const void *bytes, size_t len);
/* Lays columns and frames out as `body`, `body_len`. No frame byte is moved. */
void combo_close(struct combo *c);

/* Returns whether a body has 802.11 frames with forms, for which the dictionary pays. */
bool combo_has_forms(const uint8_t *body, size_t len);

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

struct combo_span {
	const uint8_t *at, *end;
};

/* A reader's position. */
struct combo_cursor {
	uint32_t event_frames; /* frames in front of the last event */
	uint64_t time_ns;
	uint64_t run_left;
	uint16_t linktype;
	uint8_t interface, direction;
	struct combo_span columns[COMBO_COLUMNS], data;
};

/* Frames are put together once, by combo_open. It is large: half a megabyte. */
struct combo_reader {
	uint64_t first; /* frames exported before this combo */
	uint32_t frames, events;
	uint32_t unsettled;	  /* frames with SALUKI_UNSETTLED */
	size_t bytes;		  /* kept of all its frames */
	struct combo_kinds kinds; /* of all its frames */
	uint64_t unit_ns;
	uint32_t taken; /* frames that combo_next has returned */
	uint16_t version;
	bool has_forms, has_flows; /* these templates are in use */
	bool has_tails;		   /* long tails have places */
	struct combo_cursor cursor;
	struct combo_templates templates;
	struct combo_frame list[COMBO_FRAMES_MAX];
	uint8_t data[COMBO_BYTES_MAX]; /* frames that templates put together */
};

/* Opens a body of `len` bytes with `frames` frames. Checks that every column matches the header, so
 * that combo_next and combo_next_event cannot fail later. Returns 0 or -EBADMSG. The reader points
 * into `body`. */
int combo_open(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames);
/* The same for a body of this version, which combo_header_read has accepted. */
int combo_open_version(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames,
		       uint16_t version);
/* Returns 1 with the next frame, which points into the body or the reader and is valid as long as
 * these; 0 after the last one. */
int combo_next(struct combo_reader *r, struct combo_frame *f);
/* Returns 1 with the next event before the next frame, pointing into the body; 0 if the next frame
 * comes first. A caller that takes events asks before each frame, and after the last one. */
int combo_next_event(struct combo_reader *r, struct combo_event *e);
/* Lists the remaining events in order, without taking them. Returns their number. */
uint32_t combo_list_events(const struct combo_reader *r, struct combo_event list[COMBO_EVENTS_MAX]);

#endif
