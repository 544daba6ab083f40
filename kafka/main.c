// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-kafka: carries messages between saluki-collector and Kafka's brokers. It has no keys, and
 * does not open combos.
 *
 *     put:  collector --sink ─▶ socket ─▶ produce ─▶ brokers
 *                           ◀─ DONE ────────┘
 *     get:  brokers ─▶ consume ─▶ order: records, offsets ─▶ socket ─▶ collector --source
 *                         └─◀ commit ◀─────────┘◀─────────── DONE
 *
 * topics creates the three topics, and says what is wrong with them. Each command has a room: put/,
 * get/ and topics/. They share link/, the socket to a collector, and client/, the beginning of all
 * that librdkafka does: settings, connections and what goes wrong with them.
 */
#include <stdio.h>

#include "common/completion.h"
#include "common/descriptors.h"
#include "common/options.h"
#include "common/version.h"
#include "kafka/options/commands.h"

enum { OPT_COMPLETION = 256, OPT_VERSION };

static const struct command_def commands[] = {
	{ "put", put_main, put_defs, "carry messages of a collector to brokers" },
	{ "get", get_main, get_defs, "carry messages of brokers to a collector" },
	{ "topics", topics_main, topics_defs, "create and check the topics" },
	{ 0 },
};

static const struct option_def defs[] = {
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(FILE *out)
{
	fprintf(out, "Usage: saluki-kafka COMMAND [OPTION]...\n\n"
		     "Carries messages between saluki-collector and Kafka's brokers.\n\n"
		     "Commands:\n");
	for (const struct command_def *c = commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->help);
	fprintf(out, "\nOptions:\n");
	options_print(out, defs);
	fprintf(out, "\n'saluki-kafka COMMAND --help' explains a command.\n");
}

static int without_command(int argc, char **argv)
{
	switch (options_next(defs, argc, argv)) {
	case -1:
		help(stderr);
		return EXIT_USAGE;
	case 'h':
		help(stdout);
		return 0;
	case OPT_COMPLETION:
		return completion_print("saluki-kafka", defs, commands, false, NULL, NULL);
	case OPT_VERSION:
		printf("saluki-kafka %s\n", SALUKI_VERSION);
		return 0;
	default:
		return EXIT_USAGE;
	}
}

int main(int argc, char **argv)
{
	const struct command_def *command;

	descriptors_open_standard();
	if (argc < 2 || argv[1][0] == '-')
		return without_command(argc, argv);
	command = options_find_command(commands, argv[1]);
	if (command)
		return command->run(argc - 1, argv + 1);
	options_no_command(commands, "saluki-kafka", argv[1]);
	return EXIT_USAGE;
}
