/* SPDX-License-Identifier: GPL-2.0 */
/* The options of `saluki capture`: the sensor's, and tcpdump's. Strings point into argv. */
#ifndef AGENT_OPTIONS_CAPTURE_COMMAND_H
#define AGENT_OPTIONS_CAPTURE_COMMAND_H

#include "print/print_options.h"
#include "run_options.h"

struct capture_command {
	struct run_options run;
	const char *write;	 /* -w FILE|DIR|-; NULL: frames are printed */
	const char *size, *time; /* -C and -G, for the collector, which checks them */
	const char *files;	 /* -W */
	bool list;		 /* -D */
	struct print_options print;
};

/* Returns 0, or an exit status after all messages: 2 for bad usage, -1 after --help. */
int capture_command_parse(struct capture_command *c, int argc, char **argv);

#endif
