// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-merge: makes one trace of the air of many sensors' traces. run.c connects the rooms:
 *
 *     input/ ─▶ frame/ ─▶ clock/ ─▶ air/ ─▶ output/        sweep/: the stages between
 *
 * command/ has the commands that read a finished trace.
 */
#include <sodium.h>

#include "common/descriptors.h"
#include "common/log.h"
#include "options.h"
#include "run.h"

int main(int argc, char **argv)
{
	const struct command_def *command;
	struct merge_options o;
	int status;

	descriptors_open_standard();
	command = argc > 1 ? options_command(argv[1]) : NULL;
	if (command)
		return command->run(argc - 1, argv + 1);
	status = options_parse(&o, argc, argv);
	if (!status) {
		log_settings.level = o.log_level;
		if (sodium_init() < 0) {
			log_line("libsodium does not start on this machine");
			status = 1;
		}
	}
	status = status ?: run(&o);
	options_free(&o);
	return status < 0 ? 0 : status;
}
