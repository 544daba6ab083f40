// SPDX-License-Identifier: GPL-2.0
/* saluki, the sensor: a table of subcommands. Each has a file of its own. */
#include <stdio.h>
#include <string.h>

#include "agent/options/subcommands.h"
#include "common/completion.h"
#include "common/descriptors.h"
#include "common/options.h"
#include "common/version.h"

enum { OPT_COMPLETION = 256, OPT_VERSION };

static const struct command_def commands[] = {
#ifndef WITHOUT_BPF /* a small machine has no collector */
	{ "capture", capture_main, capture_defs,
	  "capture frames here: print them, or write a file" },
#endif
	{ "run", run_main, run_defs, "capture frames and export them to a collector" },
	{ "attach", attach_main, attach_defs, "attach the capture programs and exit" },
	{ "detach", detach_main, detach_defs, "remove the capture programs" },
	{ "status", status_main, status_defs, "print captures with counters and rates" },
	{ "filter", filter_main, filter_defs, "replace the filter of a running capture" },
	{ "setup", setup_main, setup_defs, "make this sensor's key and config file" },
	{ "genkey", genkey_main, keygen_defs, "write a new private key to standard output" },
	{ "genpsk", genpsk_main, keygen_defs, "write a new preshared key to standard output" },
	{ "pubkey", pubkey_main, keygen_defs, "read a private key, write its public key" },
	{ "probe", probe_main, probe_defs, "test what this kernel and an interface support" },
#ifndef WITHOUT_BPF
	{ "module", module_main, module_defs, "sign, check and load modules" },
#endif
	{ 0 },
};

/* Options without a command. */
static const struct option_def defs[] = {
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void usage(FILE *out)
{
	fprintf(out, "Usage: saluki COMMAND [OPTION]...\n\nCommands:\n");
	for (const struct command_def *c = commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->help);
	fprintf(out, "\nInstead of a command:\n");
	options_print(out, defs);
	fprintf(out, "\nEach command takes --help.\n");
}

static int version(void)
{
	printf("saluki %s\n", SALUKI_VERSION);
	return 0;
}

int main(int argc, char **argv)
{
	const struct command_def *command;

	descriptors_open_standard();
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	command = options_find_command(commands, argv[1]);
	if (command && argc > 2 && !strcmp(argv[2], "--version"))
		return version();
	if (command)
		return command->run(argc - 1, argv + 1);
	switch (options_next(defs, 2, argv)) {
	case OPT_COMPLETION:
		return completion_print("saluki", defs, commands, false, "module", module_commands);
	case OPT_VERSION:
		return version();
	case 'h':
		usage(stdout);
		return 0;
	case -1:
		options_no_command(commands, "saluki", argv[1]);
	}
	return EXIT_USAGE;
}
