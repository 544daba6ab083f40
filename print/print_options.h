/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options for printing frames.
 */
#ifndef PRINT_PRINT_OPTIONS_H
#define PRINT_PRINT_OPTIONS_H

#include <stdbool.h>

enum print_dissector {
	PRINT_AUTO, /* tcpdump for one interface, else tshark; without them the short line */
	PRINT_TCPDUMP,
	PRINT_TSHARK,
	PRINT_SHORT,
};

/* The letters are tcpdump's options. */
struct print_options {
	enum print_dissector dissector;
	bool numeric;	       /* -n; the short line never looks names up */
	bool names;	       /* lines have their interface's name, which tcpdump's lack */
	bool link;	       /* -e: link-layer addresses; in the short line, those of Ethernet */
	bool ascii;	       /* -A: the frame as text, below its line */
	unsigned int hex;      /* -x, counted: in hexadecimal; 2: from the link-layer header on */
	unsigned int hex_text; /* -X, counted: in hexadecimal and as text */
	unsigned int verbose;  /* -v, counted */
	unsigned int stamp;    /* -t, counted, 0 to 5 as in tcpdump */
	const char *user;      /* of this process and the dissector; NULL: PRIVSEP_USER_DEFAULT */
	unsigned int patience_s; /* after which a stuck dissector is killed; 0: 30 */
};

#endif
