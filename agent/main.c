// SPDX-License-Identifier: GPL-2.0
/* saluki, the sensor: a table of subcommands. Each has a file of its own. */
#include <stdio.h>
#include <string.h>

#include <saluki/options.h>
#include <saluki/version.h>

#include "commands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "run", run_main, "capture frames and export them to a collector" },
	{ "genkey", genkey_main, "write a new private key to standard output" },
	{ "pubkey", pubkey_main, "read a private key, write its public key" },
	{ "probe", probe_main, "say what this kernel and an interface can do" },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
	fprintf(out, "Usage: saluki COMMAND [OPTION]...\n\nCommands:\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\nEach command takes --help. 'saluki --version' prints the version.\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("saluki %s\n", SALUKI_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	log_line("%s: no such command; 'saluki --help' lists them", argv[1]);
	return EXIT_USAGE;
}
