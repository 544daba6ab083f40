/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wired templates: remove the parts that an Ethernet frame shares with earlier frames of its flow
 * and combo. Both ends use them, in wired_append.c (sensor) and wired_next.c (collector).
 * docs/wire.md, "Wired templates", describes the columns; wired_expect.h has the expectations.
 *
 * A template is the head of the last frame of a flow, and a few numbers. The head has the headers
 * of layers 2 to 4, or the first WIRED_HEAD_MAX bytes of frames whose headers are not understood.
 * The bytes behind the head are the tail, which no template predicts. A frame of a known flow is
 * its template's number, a mask, and the fields that differ from what its template expects. The
 * table is empty at the start of each combo, so a lost combo costs no frame of another one.
 */
#ifndef WIRE_WIRED_TEMPLATES_H
#define WIRE_WIRED_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/linktype.h>

#define WIRED_HEAD_MAX 96			       /* bytes; a multiple of 8 */
#define WIRED_DIFFERENCES_MAX (2 + WIRED_HEAD_MAX / 8) /* bits of differences */
#define WIRED_TEMPLATES_MAX 254
/* Templates that a sensor uses. 32-bit machines have little memory and small caches. */
#define WIRED_TEMPLATES (sizeof(void *) == 4 ? 64 : WIRED_TEMPLATES_MAX)
#define WIRED_BUCKETS 2048
#define WIRED_CLASSES 64

/* Values of the column `flows` that are no template's number. */
enum {
	WIRED_WHOLE = 0,       /* a new template; its head is stored as it is */
	WIRED_DIFFERENCE = 255 /* a new template, as differences from another template's head */
};

/* How much of a head is understood. */
enum {
	WIRED_RAW, /* nothing */
	WIRED_IP,  /* an IP header without options, and nothing behind it */
	WIRED_ICMP,
	WIRED_UDP,
	WIRED_TCP,
	WIRED_TCP_STAMPS, /* TCP whose only option is time stamps, as Linux sends it */
	WIRED_PROTOCOLS,
	WIRED_V6 = 8, /* a flag: IPv6 */
};

/* What a head's bytes and the number of captured bytes determine. Frames of one template have one
 * shape. `l3` and `l4` are offsets. */
struct wired_shape {
	uint8_t kind; /* WIRED_ */
	uint8_t l3, l4, len;
};

struct wired_template {
	uint8_t head[WIRED_HEAD_MAX]; /* `shape.len` bytes of the flow's last frame */
	struct wired_shape shape;
	uint32_t next_seq; /* TCP: the sequence number behind the last frame */
	uint32_t limit;	   /* captured bytes of the last frame that was cut, else UINT32_MAX */
	uint32_t slack;	   /* original length less the lengths in the headers, modulo 2^32 */
	uint32_t floor;	   /* original length of the last frame that was padded, else 0 */
	uint32_t step;	   /* of the IP id: 0, 1 or 256 */
	uint32_t bucket;   /* sensor only */
	uint8_t peer;	   /* number of the flow's other direction, or 0 */
};

struct wired_templates {
	uint16_t max;			/* templates in use before the oldest is replaced */
	uint16_t count;			/* numbers 1 to `count` are in use */
	uint16_t last;			/* number given last */
	uint16_t unlike;		/* sensor only: new ones that are like no other, in a row */
	uint8_t buckets[WIRED_BUCKETS]; /* sensor only: a flow's number */
	uint8_t classes[WIRED_CLASSES]; /* sensor only: the number of a class's last new flow */
	struct wired_template list[WIRED_TEMPLATES_MAX + 1]; /* by number; the first is not used */
};

static inline bool wired_templates_apply(uint16_t linktype)
{
	return linktype == LINKTYPE_ETHERNET;
}

/* Empties the table, for a combo's first Ethernet frame. */
void wired_templates_reset(struct wired_templates *t, uint16_t max);

struct combo;
struct combo_frame;
struct combo_reader;

/* Sensor: appends a frame to the columns. The caller has asked combo_fits. */
void wired_append(struct combo *c, const struct combo_frame *f);
/* Collector: puts the next frame together at `room`, which has `len` bytes, and points `f` there.
 * Returns 0 or -EBADMSG. */
int wired_next(struct combo_reader *r, struct combo_frame *f, uint8_t *room, size_t len);

#endif
