// SPDX-License-Identifier: GPL-2.0
/*
 * The printing process alone: capture bytes on standard input, lines on standard output.
 *
 *     printer [auto|tcpdump|tshark|short] [-n] [-e] [-i] [-I] [-A] [-x] [-X] [-v] [-t] [-u USER]
 * [-p SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/print.h"

static enum print_dissector by_name(const char *name)
{
	static const char *const names[] = { "auto", "tcpdump", "tshark", "short" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return i;
	exit(2);
}

int main(int argc, char **argv)
{
	struct print_options o = { 0 };
	int c;

	while ((c = getopt(argc, argv, "neiAxXvtu:p:")) != -1) {
		o.numeric |= c == 'n';
		o.link |= c == 'e';
		o.names |= c == 'i';
		o.ascii |= c == 'A';
		o.hex += c == 'x';
		o.hex_text += c == 'X';
		o.verbose += c == 'v';
		o.stamp += c == 't';
		if (c == 'u')
			o.user = optarg;
		if (c == 'p')
			o.patience_s = atoi(optarg);
		if (c == '?')
			return 2;
	}
	o.dissector = optind < argc ? by_name(argv[optind]) : PRINT_AUTO;
	return print_check(&o) ? 1 : print_process(STDIN_FILENO, &o);
}
