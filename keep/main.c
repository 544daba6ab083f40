// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-keep: keeps the capture files of a folder for long.
 *
 *     folder/ which files there are ─▶ service/ which of them are closed, or too old
 *                                         ├─▶ pack/ compresses, and makes the index and columns
 *                                         ├─▶ compact/ joins the columns of closed days
 *                                         └─▶ folder/retire deletes
 *
 * find/ searches what is kept. extcap/ answers Wireshark, whose captures are searches.
 */
#include "common/descriptors.h"
#include "common/extcap.h"
#include "common/extcap_install.h"
#include "common/log.h"
#include "extcap/extcap.h"
#include "options.h"
#include "run.h"

int main(int argc, char **argv)
{
	const struct command_def *command;
	struct keep_options o;
	int status;

	descriptors_open_standard();
	if (extcap_is(EXTCAP_LINK, argc, argv))
		return extcap_answer(argc, argv);
	command = argc > 1 ? options_command(argv[1]) : NULL;
	if (command)
		return command->run(argc - 1, argv + 1);
	status = options_parse(&o, argc, argv);
	if (status)
		return status < 0 ? 0 : status;
	if (o.install)
		return extcap_install(EXTCAP_LINK, EXTCAP_DISPLAY);
	if (o.once)
		log_settings.level = o.log_level;
	else
		log_start(o.log_level);
	return run(&o);
}
