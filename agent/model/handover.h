/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handover: the messages between the two processes of `saluki run`. The unprivileged one sends only
 * three things besides its exit status: the collector's orders, if the owner allows them
 * (--allow-control), requests for channels, if there is a plan of several, and in `saluki capture`
 * a request to stop.
 */
#ifndef AGENT_MODEL_HANDOVER_H
#define AGENT_MODEL_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture_options.h"
#include "packet_layout.h"

/* The kind of a handover's other descriptors. */
enum handover_kind {
	HANDOVER_FILE,
	HANDOVER_RING,
	HANDOVER_MMAP,
	HANDOVER_XSK,
};

/* Descriptors of a handover. The first is the key file. Then, by kind: */
enum {
	HANDOVER_FD_KEY = 0,

	HANDOVER_FD_FILE = 1, /* HANDOVER_FILE */

	HANDOVER_FD_RING = 1, /* HANDOVER_RING: maps */
	HANDOVER_FD_WAKEUP = 2,
	HANDOVER_FD_MAPPED = 3,
	HANDOVER_FD_JOURNAL = 4,
	HANDOVER_FD_COUNTERS = 5, /* one per interface; then one that is only kept open */

	HANDOVER_FD_COUNTS = 1,	 /* HANDOVER_MMAP: packet_counts.h */
	HANDOVER_FD_SOCKETS = 2, /* per interface the socket and its census (packet_socket.h) */

	HANDOVER_FD_XSK_HALT = 1, /* HANDOVER_XSK: maps; sockets and memory came with the fork */
	HANDOVER_FD_XSK_COUNTERS = 2, /* one per interface */
};

struct handover_interface {
	char name[64];		      /* or the file's base name */
	unsigned int given;	      /* number of its -i */
	char source[32];	      /* "xdp native", "xdp generic", "tc", ..., "file" */
	uint16_t linktype;	      /* LINKTYPE_ at the time of attaching */
	bool keep_headers;	      /* as decided for the link type */
	char link;		      /* INFO_LINK_ (wire/info.h) */
	char filter[256];	      /* its text, truncated; "": none */
	struct radio_channel channel; /* tuned channel; 0 MHz: not tuned */
	struct packet_layout packets; /* HANDOVER_MMAP: its ring */
};

/* The first message: all is attached, with the descriptors to read from. */
struct handover {
	enum handover_kind kind;
	bool pace;
	bool keep_was_asked_for; /* file: --keep headers was given explicitly */
	bool drop_bad_fcs;	 /* file, mmap: BPF programs do it themselves */
	bool persistent;	 /* ring: it and its programs outlive this agent */
	enum keep keep;		 /* mmap: resolved for each frame's link type */
	uint32_t snaplen;
	uint32_t snaplen_max; /* longest of frames already in the ring */
	uint32_t ring_size;   /* bytes; per CPU if mapped */
	uint32_t cpus;	      /* counter slots per interface */
	uint32_t mapped;      /* CPUs with a mapped ring; 0: the BPF ring buffer */
	uint64_t limit;	      /* -c: frames; 0: none */
	uint32_t queues;      /* receive queues of all interfaces; 0: not known */
	uint32_t count;	      /* interfaces; 1 for a file */
	struct handover_interface interfaces[INTERFACES_MAX];
};

/* All later messages. */
struct order {
	uint8_t what;			     /* enum privsep_order, or one of those below */
	uint8_t number;			     /* of an interface */
	struct handover_interface interface; /* COMMAND_INTERFACE */
	int32_t error;			     /* of the request: 0, or -errno */
	union {
		char why[FILTER_WHY_LEN]; /* COMMAND_RESULT: the reason */
		struct {
			uint64_t begin_ns,
				end_ns;		  /* CLOCK_MONOTONIC, begin and end of the change */
			struct radio_channel was; /* the old channel; 0 MHz: not known */
		} tuned;			  /* COMMAND_TUNED */
		struct {
			uint32_t count;
			uint16_t mhz[PLAN_MAX];
		} card; /* COMMAND_CARD: its 20 MHz channels */
	};
};
#define COMMAND_INTERFACE 16 /* its capture changed */
#define COMMAND_RESULT 17    /* answer to an order */
#define COMMAND_TUNED 18     /* to REQUEST_TUNE */
#define COMMAND_CARD 19	     /* to REQUEST_CARD */
#define COMMAND_LOST 20	     /* it disappeared or went down: its radio hears nothing */

/* From the unprivileged to the privileged process. Each request has an answer; those of one kind
 * and interface come one at a time. The sender is not trusted (privileged_requests.c). */
struct ordered {
	uint32_t kind;		      /* enum order_kind (wire/order.h): a collector's order; or */
	uint32_t interface;	      /* its number; not with WIRE_ORDER_SNAPLEN */
	int32_t linktype;	      /* WIRE_ORDER_FILTER: its LINKTYPE_ */
	uint32_t snaplen;	      /* WIRE_ORDER_SNAPLEN: for all interfaces */
	struct radio_channel channel; /* REQUEST_TUNE */
	uint16_t pad;
	struct filter filter; /* WIRE_ORDER_FILTER; other requests end before it */
};
#define REQUEST_TUNE 64 /* the sampler requests a channel */
#define REQUEST_CARD 65 /* or the card's channels */
#define REQUEST_STOP 66 /* as SIGINT: -c is reached, or the local collector has ended */
#define REQUEST_HEAD_LEN offsetof(struct ordered, filter)

#endif
