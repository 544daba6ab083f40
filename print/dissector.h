/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcpdump or tshark at work, from outside: what is fed to it, what it prints, and its end. In:
 * frames. Out: its text on the screen; its complaints, a few, on standard error. Always holds:
 * nothing here waits but dissector_wait, which the caller gives its own descriptors too.
 */
#ifndef PRINT_DISSECTOR_H
#define PRINT_DISSECTOR_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "feed.h"
#include "launch.h"
#include "screen.h"

enum dissector_state {
	DISSECTOR_NONE,	  /* there is none, or none any more */
	DISSECTOR_WAITS,  /* for the order what to execute */
	DISSECTOR_RUNS,	  /* it takes frames */
	DISSECTOR_DRAINS, /* it prints what it has, and ends */
};

#define DISSECTOR_POLLS 3 /* descriptors to poll */

struct dissector {
	enum dissector_state state;
	struct launch process;
	const char *name;  /* "tcpdump" or "tshark", once it was ordered */
	uint16_t linktype; /* of all frames, for tcpdump */
	struct feed feed;
	uint64_t fed, printed; /* frames; the second is about right */
	bool inside_line;      /* the last byte that it printed did not end a line */
	bool owes;	       /* it has printed nothing since it was fed the last frame */
	uint64_t moved_ns;     /* when it last took or gave a byte, or began to owe */
	uint64_t patience_ns;
	struct screen complaints; /* standard error */
	size_t complaint_len;
	char complaint[256];
	unsigned int complained; /* lines */
};

/* Forks the process that will be the dissector. Returns 0, or -errno after a line. */
int dissector_init(struct dissector *d, const struct print_options *o);
/* Has tcpdump, for frames of this link type, or tshark executed. */
void dissector_start(struct dissector *d, enum launch_order order, uint16_t linktype);
/* Whether dissector_frame may be called. */
bool dissector_takes(const struct dissector *d);
/* Whether a frame that it did not take a moment ago can be printed now, by it or without it. */
bool dissector_is_free(const struct dissector *d);
/* Returns false if this dissector cannot take frames of this kind. */
bool dissector_frame(struct dissector *d, const struct pcap_frame *frame,
		     struct feed_interface *its);
/* No more frames follow. */
void dissector_drain(struct dissector *d);
/* Fills the descriptors to poll, and shortens the timeout (-1: none). */
void dissector_polls(const struct dissector *d, struct pollfd fds[DISSECTOR_POLLS],
		     int *timeout_ms);
/* Writes and reads what can be without waiting. Notices the end, and says one line of it unless it
 * was asked for. `more`: frames follow. */
void dissector_move(struct dissector *d, struct screen *s, bool more);
/* Ends it at once, without a line. */
void dissector_free(struct dissector *d);

#endif
