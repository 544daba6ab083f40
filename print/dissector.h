/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dissector: feeds frames to tcpdump or tshark, and passes on the program's output. In: frames.
 * Out: text on the screen, and the program's first error messages on standard error. Always holds:
 * no function waits for the dissector's reading or printing.
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
	DISSECTOR_NONE,	  /* not started, or ended */
	DISSECTOR_WAITS,  /* for the order which program to execute */
	DISSECTOR_RUNS,	  /* it takes frames */
	DISSECTOR_DRAINS, /* it prints its last frames, and ends */
};

#define DISSECTOR_POLLS 3 /* descriptors to poll */

struct dissector {
	enum dissector_state state;
	struct launch process;
	const char *name;  /* "tcpdump" or "tshark", once it was ordered */
	uint16_t linktype; /* of all frames, for tcpdump */
	struct feed feed;
	uint64_t fed, printed; /* frames; `printed` is an estimate */
	bool inside_line;      /* the last printed byte did not end a line */
	bool owes;	       /* no output since the last frame was fed */
	uint64_t moved_ns;     /* when it last read or wrote a byte, or `owes` was set */
	uint64_t patience_ns;
	struct screen complaints; /* standard error */
	size_t complaint_len;
	char complaint[256];
	unsigned int complained; /* lines */
};

/* Forks the process that will be the dissector. Returns 0, or -errno after a line. */
int dissector_init(struct dissector *d, const struct print_options *o);
/* Executes tcpdump, for frames of this link type, or tshark. */
void dissector_start(struct dissector *d, enum launch_order order, uint16_t linktype);
/* Whether dissector_frame may be called. */
bool dissector_takes(const struct dissector *d);
/* Whether the next frame can be printed now, by the dissector or without it. */
bool dissector_is_free(const struct dissector *d);
/* Returns false if this dissector cannot take frames of this kind. */
bool dissector_frame(struct dissector *d, const struct pcap_frame *frame,
		     struct feed_interface *its);
/* No more frames follow. */
void dissector_drain(struct dissector *d);
/* Fills the descriptors to poll, and shortens the timeout (-1: none). */
void dissector_polls(const struct dissector *d, struct pollfd fds[DISSECTOR_POLLS],
		     int *timeout_ms);
/* Writes and reads without waiting. Logs an unexpected end of the dissector. `more`: frames
 * follow. */
void dissector_move(struct dissector *d, struct screen *s, bool more);
/* Kills the dissector, without a line. */
void dissector_free(struct dissector *d);

#endif
