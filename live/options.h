/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-live. Strings point into argv. */
#ifndef LIVE_OPTIONS_H
#define LIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "print/print_options.h"

struct live_options {
	const char *collector; /* socket, or USER@HOST */
	const char *sensors;   /* names, comma between them; NULL: all */
	const char *group;     /* NULL: all */
	const char *channels;  /* NULL: all */
	const char *write;     /* NULL: print */
	struct print_options print;
	uint64_t count;	  /* 0: no end */
	char *expression; /* malloc; "" or NULL: all */
	bool extcap;	  /* Wireshark reads the output and the messages */
	bool install;
	const char *control_in, *control_out; /* Wireshark's toolbar; NULL: none */
};

/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int options_parse(struct live_options *o, int argc, char **argv);
void options_free(struct live_options *o);
/* Whether the collector is on another machine. */
bool options_far(const struct live_options *o);
/* Refuses binary output to a terminal. Returns 0, or -EINVAL after a line. */
int options_check_terminal(const char *write);

#endif
