// SPDX-License-Identifier: GPL-2.0
/* The options of commands that print: see print_command.h. */
#include "print_command.h"

#include <errno.h>

#include "common/options.h"

static int parse_dissector(struct print_options *p)
{
	static const char *const names[] = { "auto", "tcpdump", "tshark", "short", NULL };
	int choice = 0, err = options_choice("--dissector", optarg, names, &choice);

	p->dissector = choice;
	return err;
}

int print_command_option(struct print_options *p, int id)
{
	switch (id) {
	case 'n':
		p->numeric = true;
		return 0;
	case 'e':
		p->link = true;
		return 0;
	case 'v':
		p->verbose++;
		return 0;
	case 't':
		p->stamp++;
		return 0;
	case 'A':
		p->ascii = true;
		return 0;
	case 'x':
		p->hex++;
		return 0;
	case 'X':
		p->hex_text++;
		return 0;
	case PRINT_OPTION_DISSECTOR:
		return parse_dissector(p);
	default:
		return -ENOENT;
	}
}
