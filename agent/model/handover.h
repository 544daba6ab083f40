/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two processes of `saluki run` say to one another. The other way there are two things
 * besides the end of the socket and the exit status: what the collector orders, and only where the
 * owner has allowed it (--allow-control); and which channel a radio shall listen to, where there is
 * a plan of several.
 */
#ifndef AGENT_MODEL_HANDOVER_H
#define AGENT_MODEL_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture_options.h"
#include "packet_layout.h"

/* What the other descriptors of a handover are. */
enum handover_kind {
	HANDOVER_FILE,
	HANDOVER_RING,
	HANDOVER_MMAP,
	HANDOVER_XSK,
};

/* Descriptors of a handover. The first is the key file's; then, by kind: */
enum {
	HANDOVER_FD_KEY = 0,

	HANDOVER_FD_FILE = 1, /* HANDOVER_FILE */

	HANDOVER_FD_RING = 1, /* HANDOVER_RING: maps */
	HANDOVER_FD_WAKEUP = 2,
	HANDOVER_FD_MAPPED = 3,
	HANDOVER_FD_JOURNAL = 4,
	HANDOVER_FD_COUNTERS = 5, /* one an interface; behind them one that is kept open */

	HANDOVER_FD_COUNTS = 1,	 /* HANDOVER_MMAP: packet_counts.h */
	HANDOVER_FD_SOCKETS = 2, /* an interface's, its census (packet_socket.h), the next one's */

	HANDOVER_FD_XSK_HALT = 1,     /* HANDOVER_XSK: maps; sockets and memory came by the fork */
	HANDOVER_FD_XSK_COUNTERS = 2, /* one an interface */
};

struct handover_interface {
	char name[64];		      /* or the file's base name */
	unsigned int given;	      /* which of the -i it is */
	char source[32];	      /* "xdp native", "xdp generic", "tc", ..., "file" */
	uint16_t linktype;	      /* LINKTYPE_, as attached to */
	bool keep_headers;	      /* as decided for the link type */
	char filter[256];	      /* its text, cut; "" without one */
	struct radio_channel channel; /* that it was tuned to; of 0 MHz: it was not */
	struct packet_layout packets; /* HANDOVER_MMAP: its ring */
};

/* The first message: everything is attached, here is what to read from. */
struct handover {
	enum handover_kind kind;
	bool pace;
	bool keep_was_asked_for; /* file: --keep headers was given, not the default */
	bool drop_bad_fcs;	 /* file, mmap: programs do it themselves */
	bool persistent;	 /* ring: it and its programs stay when this agent ends */
	enum keep keep;		 /* mmap: decided for each frame's own link type */
	uint32_t snaplen;
	uint32_t snaplen_max; /* of frames that wait in the ring from before */
	uint32_t ring_size;   /* bytes; of each CPU's where it is mapped */
	uint32_t cpus;	      /* counter slots an interface */
	uint32_t mapped;      /* CPUs with a mapped ring; 0: the BPF ring buffer */
	uint32_t count;	      /* interfaces; 1 for a file */
	struct handover_interface interfaces[INTERFACES_MAX];
};

/* Every later message. */
struct order {
	uint8_t what;			     /* enum privsep_order, or one of those below */
	uint8_t number;			     /* of an interface */
	struct handover_interface interface; /* COMMAND_INTERFACE */
	int32_t error;			     /* of the request: 0, or -errno */
	union {
		char why[FILTER_WHY_LEN]; /* COMMAND_RESULT: the reason */
		struct {
			uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, around it */
			struct radio_channel was;  /* where it was; of 0 MHz: not known */
		} tuned;			   /* COMMAND_TUNED */
		struct {
			uint32_t count;
			uint16_t mhz[PLAN_MAX];
		} card; /* COMMAND_CARD: what it may listen to, of 20 MHz */
	};
};
#define COMMAND_INTERFACE 16 /* it is another way now */
#define COMMAND_RESULT 17    /* to what the collector ordered */
#define COMMAND_TUNED 18     /* to REQUEST_TUNE */
#define COMMAND_CARD 19	     /* to REQUEST_CARD */
#define COMMAND_LOST 20	     /* it has gone, or went down: its radio listens to nothing */

/* Unprivileged to privileged: each is answered, those of one kind and interface come one at a time.
 * Who sends it is not trusted (privileged_requests.c). */
struct ordered {
	uint32_t kind;	    /* enum order_kind (wire/order.h): an order of the collector; or */
	uint32_t interface; /* its number; not with WIRE_ORDER_SNAPLEN */
	int32_t linktype;   /* WIRE_ORDER_FILTER: for which LINKTYPE_ it is */
	uint32_t snaplen;   /* WIRE_ORDER_SNAPLEN: of all interfaces */
	struct radio_channel channel; /* REQUEST_TUNE */
	uint16_t pad;
	struct filter
		filter; /* WIRE_ORDER_FILTER; what is not of the collector ends in front of it */
};
#define REQUEST_TUNE 64 /* the sampler wants a radio on another channel */
#define REQUEST_CARD 65 /* or to know the card's channels */
#define REQUEST_HEAD_LEN offsetof(struct ordered, filter)

#endif
