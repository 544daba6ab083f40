// SPDX-License-Identifier: GPL-2.0
/* saluki module: a table of subcommands, as in main.c. */
#include "module.h"

#include <string.h>

#include "agent/options/subcommands.h"
#include "common/log.h"

const struct command_def module_commands[] = {
	{ "genkey", module_genkey_main, module_key_defs,
	  "write a new private key for signing to standard output" },
	{ "pubkey", module_pubkey_main, module_key_defs,
	  "read a private key, write its public key" },
	{ "sign", module_sign_main, module_sign_defs, "sign a module" },
	{ "check", module_check_main, module_check_defs, "check a module against the policy" },
	{ "load", module_load_main, module_load_defs, "run a module on an interface" },
	{ "unload", module_unload_main, module_unload_defs, "remove a module" },
	{ "fill", module_fill_main, module_fill_defs, "put entries into a module's map" },
	{ "list", module_list_main, module_list_defs, "list the modules of an interface" },
	{ "stats", module_stats_main, module_list_defs, "print their counters and cost" },
	{ "consume", module_consume_main, module_consume_defs,
	  "run a program on a module's events and maps" },
	{ 0 },
};

const struct option_def module_defs[] = {
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: saluki module COMMAND [OPTION]...\n\n"
		"Modules are small programs that inspect captured frames in the kernel, within\n"
		"the policy's limits.\n\nCommands:\n");
	for (const struct command_def *c = module_commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->help);
	fprintf(out, "\nInstead of a command:\n");
	options_print(out, module_defs);
	fprintf(out, "\nEach command takes --help.\n");
}

int module_main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (const struct command_def *c = module_commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return c->run(argc - 1, argv + 1);
	switch (options_next(module_defs, 2, argv)) {
	case 'h':
		usage(stdout);
		return 0;
	case -1:
		options_no_command(module_commands, "saluki module", argv[1]);
	}
	return EXIT_USAGE;
}

const char *module_object_argument(int argc, char **argv)
{
	if (argc == optind + 1)
		return argv[optind];
	log_line("module %s: give one object; see 'saluki module %s --help'", argv[0], argv[0]);
	return NULL;
}
