/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Worm: shared by the module and its consumer. Numbers have the sensor's byte order. Addresses are
 * as the sensor's policy shows them.
 *
 * After Singh, Estan, Varghese and Savage, "Automated Worm Fingerprinting" (OSDI 2004: EarlyBird):
 * a worm is content that is sent often, by many, to many.
 */
#ifndef BPF_MODULES_WORM_WORM_H
#define BPF_MODULES_WORM_WORM_H

#include <saluki/module.h>

/* Content: the payload's first bytes, with protocol and destination port. EarlyBird uses pieces of
 * 40 bytes; shorter content is seldom specific. */
#define WORM_CONTENT 64
#define WORM_CONTENT_MIN 40

/* Copies in WORM_WINDOW_S seconds. Sources and destinations (EarlyBird's 30) as the number of bits
 * of 64 that so many addresses set: 64 (1 - exp(-30 / 64)). */
#define WORM_PREVALENCE 30
#define WORM_SPREAD_BITS 24
#define WORM_WINDOW_S 60
#define WORM_IGNORE 4

/* The one entry of the map `settings`; 0 means the default above. */
struct worm_settings {
	__u32 prevalence, window_s;
	__u32 source_bits, destination_bits;
	__u16 ignore[WORM_IGNORE]; /* destination ports that are never flagged */
};
_Static_assert(sizeof(struct worm_settings) == 24, "an operator fills it");

/* ---- signatures ------------------------------------------------------------------------------ */

#define WORM_SIGNATURES 8
#define WORM_PATTERN 16
#define WORM_OFFSET_MAX (MODULE_PAYLOAD_MAX - WORM_PATTERN)
#define WORM_SPAN 32 /* positions where a pattern may begin, the first a multiple of 8 */

struct worm_signature {
	__u32 id;		      /* the program that fills the map knows its name */
	__u16 port, port_mask;	      /* destination, and a mask: all bits, or 0 for any */
	__u8 protocol, protocol_mask; /* of IP */
	__u8 len;		      /* of the pattern: 1 to WORM_PATTERN */
	__u8 from, to;		      /* positions where it may begin */
	__u8 pad[3];
	__u8 pattern[WORM_PATTERN], mask[WORM_PATTERN];
};
_Static_assert(sizeof(struct worm_signature) == 48, "an operator fills it");

/* The one entry of the map `signatures`. */
struct worm_signatures {
	__u32 count, pad;
	struct worm_signature list[WORM_SIGNATURES];
};

/* ---- events ---------------------------------------------------------------------------------- */

enum {
	WORM_OUTBREAK = 1, /* an outbreak begins, or has doubled */
	WORM_BYTES = 2,	   /* the outbreak's content */
	WORM_HIT = 3	   /* a signature's hit, once a minute per source */
};

/* Distinct addresses: 64 bits each for all, one in 16 and one in 256 of them (EarlyBird's scaled
 * bitmaps, by Estan, Varghese and Fisk: "Bitmap Algorithms for Counting Active Flows"). */
#define WORM_LEVELS 3
#define WORM_LEVEL_SHIFT 4

struct worm_event {
	__u8 kind;
	__u8 ip_version, ip_protocol;
	__u8 len;   /* WORM_BYTES: length of `bytes` */
	__u16 port; /* destination */
	__u16 pad;
	__u64 content; /* its hash; WORM_HIT: the signature's id */
	union {
		struct {
			__u32 count;	/* copies in the window; WORM_HIT: of the source */
			__u32 since_ms; /* since the first copy */
			__u8 source_bits[WORM_LEVELS], destination_bits[WORM_LEVELS];
			__u16 payload_len; /* of this copy */
			__u8 saddr[16], daddr[16];
		};
		__u8 bytes[48];
	};
};
_Static_assert(sizeof(struct worm_event) == 64, "an event");

#endif
