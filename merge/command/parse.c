// SPDX-License-Identifier: GPL-2.0
/* Command lines of commands that take files: see commands.h. */
#include "commands.h"

int commands_parse(const struct option_def *defs, void (*help)(void), int argc, char **argv)
{
	int id;

	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id != 'h')
			return EXIT_USAGE;
		help();
		return -1;
	}
	if (optind == argc) {
		log_line("%s: give a trace that saluki-merge has written; see 'saluki-merge %s "
			 "--help'",
			 argv[0], argv[0]);
		return EXIT_USAGE;
	}
	return 0;
}
