/* SPDX-License-Identifier: GPL-2.0 */
/* A capture's settings: options/ fills them in, and most rooms read them. Strings point into argv.
 */
#ifndef AGENT_MODEL_CAPTURE_OPTIONS_H
#define AGENT_MODEL_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "classic_filter.h"
#include "wire/channel.h"

#define INTERFACES_MAX 8
#define PLAN_MAX 128		    /* channels of a radio's plan */
#define MAPPED_SIZE_MAX (256 << 20) /* bytes of a mapped ring: the verifier's limit for offsets */

enum keep { KEEP_DEFAULT, KEEP_HEADERS, KEEP_ALL };
enum bad_fcs { BAD_FCS_DEFAULT, BAD_FCS_KEEP, BAD_FCS_DROP };
enum source_choice { SOURCE_AUTO, SOURCE_XDP, SOURCE_TC, SOURCE_MMAP, SOURCE_XSK };
enum ring_kind { RING_AUTO, RING_BPF, RING_MAPPED };
enum direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_INOUT };

/* The channels requested for an interface's radio. */
struct plan_asked {
	const char *list; /* NULL: none */
	uint32_t dwell_us;
	uint32_t settle_us; /* after a switch, while frames are marked */
	uint8_t floor;	    /* percent of a cycle */
	bool proportional;
};

struct capture_options {
	const char
		*interfaces[INTERFACES_MAX]; /* -i, in order: the index is the interface's number */
	/* Each interface's single channel; 0 MHz: none, or several. */
	struct radio_channel channels[INTERFACES_MAX];
	struct plan_asked plans[INTERFACES_MAX];
	unsigned int count;
	struct plan_asked plan; /* of the next -i */
	uint32_t deaf_after_s;	/* after so long without a frame a radio is reported; 0: never */
	bool steered;		/* the collector may send channel plans */
	bool monitors[INTERFACES_MAX]; /* per interface, --monitor: radio/monitor.h */
	bool monitor;		       /* of the next -i */
	uint32_t snaplen;	       /* bytes */
	enum keep keep;
	enum bad_fcs bad_fcs; /* default: frames are kept */
	enum source_choice source;
	enum direction direction;
	bool no_xdp;	  /* auto: not XDP, as attaching it may reset a card */
	bool promiscuous; /* Ethernet interfaces, while they are captured */
	bool consume;
	enum ring_kind ring;
	uint32_t ring_size; /* bytes, a power of two */
	uint32_t delay_ms;  /* longest delay of a frame in the kernel; 0: default */
	bool shares;	    /* if another saluki captures there, uses packet sockets beside it */
	bool persistent;    /* attached programs stay: saluki attach */
	struct filter_given filter;
	unsigned int given; /* bits of enum capture_given; the others are defaults */
};

enum capture_given {
	GIVEN_SNAPLEN = 1,
	GIVEN_KEEP = 2,
	GIVEN_SOURCE = 4,
	GIVEN_DIRECTION = 8,
	GIVEN_CONSUME = 16,
	GIVEN_RING = 32,
	GIVEN_RING_SIZE = 64,
	GIVEN_FILTER = 128,
	GIVEN_CHANNEL = 256,
	GIVEN_BAD_FCS = 512,
	GIVEN_MONITOR = 1024,
};

#endif
