// SPDX-License-Identifier: GPL-2.0
/* saluki-collector status: see status.h. In: the board. Out: a table, or JSON. */
#include "status.h"

#include <errno.h>
#include <string.h>

#include "board/json.h"
#include "common/log.h"
#include "print.h"
#include "reach.h"

enum { OPT_BOARD = 256, OPT_JSON };

const struct option_def status_defs[] = {
	REACH_OPTION(OPT_BOARD),
	{ OPT_JSON, "json", NULL, "print JSON instead of a table" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-collector status [OPTION]... [SENSOR|GROUP]...\n\n"
	       "Prints the state of the running collector's sensors: all, or the named ones.\n\n");
	options_print(stdout, status_defs);
	printf("\nExit status: 0 printed, 1 failed, 2 bad usage.\n");
}

static bool is_wanted(const void *names, const struct board_sensor *s)
{
	return status_is_named(names, s);
}

static int print(const struct board_states *s, const struct status_names *n, bool json)
{
	int err = 0;

	if (json)
		board_json(stdout, s, is_wanted, n);
	else
		err = status_table(stdout, s, n, &status_all);

	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
	if (err)
		log_line("cannot print: %s", strerror(-err));
	return err != 0;
}

static int run(const char *path, const struct status_names *names, bool json)
{
	struct board_states s;
	int status;

	if (reach_states(&s, path))
		return 1;
	status = reach_names(&s, names) ? 1 : print(&s, names, json);
	board_states_free(&s);
	return status;
}

int status_main(int argc, char **argv)
{
	const char *path = BOARD_PATH;
	bool json = false;
	int id;

	while ((id = options_next(status_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (id == OPT_BOARD)
			path = optarg;
		else if (id == OPT_JSON)
			json = true;
		else
			return 2;
	}
	return run(path, &(struct status_names){ argv + optind, argc - optind }, json);
}
