/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Launch: the process that becomes the dissector. It is forked before privileges are dropped. The
 * process then drops all privileges, leaves the network, and waits for one byte on its standard
 * input, which names the program to execute. If the input ends first, the process ends.
 */
#ifndef PRINT_LAUNCH_H
#define PRINT_LAUNCH_H

#include <sys/types.h>

#include "print_options.h"

/* The byte. */
enum launch_order {
	LAUNCH_TCPDUMP = 't',
	LAUNCH_TSHARK = 's',
	LAUNCH_TSHARK_NAMES = 'S', /* with a column of interface names */
};

struct launch {
	pid_t pid;
	int in, out, err; /* its standard input, output and error; these do not block */
};

/* Forks. Returns 0, or -errno after a line. */
int launch(struct launch *l, const struct print_options *o);

#endif
