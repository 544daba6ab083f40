/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two processes of `saluki run` say to one another. Privileged to unprivileged only;
 * the other way there is nothing but the end of the socket and the exit status.
 */
#ifndef AGENT_HANDOVER_H
#define AGENT_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* Descriptors of a handover, by kind. */
enum {
	HANDOVER_FD_KEY = 0,
	HANDOVER_FD_RING = 1,
	HANDOVER_FD_COUNTERS = 2,
	HANDOVER_FD_WAKEUP = 3,
	HANDOVER_FD_MAPPED = 4,
};
enum { HANDOVER_FD_FILE = 1 };

/* The first message: everything is attached, here is what to read from. */
struct handover {
	bool is_file;
	bool pace;
	bool keep_headers;	 /* file: trim here; ring: the kernel has done it */
	bool keep_was_asked_for; /* file: --keep headers was given, not the default */
	uint32_t snaplen;
	uint32_t ring_size; /* bytes; of each CPU's where it is mapped */
	uint32_t cpus;	    /* counter slots */
	uint32_t mapped;    /* CPUs with a mapped ring; 0: the BPF ring buffer */
	char name[64];	    /* interface, or the file's base name */
	char source[32];    /* "xdp native", "xdp generic", "tc", "file" */
};

/* Every later message is an order (saluki/privsep.h). */

#endif
