// SPDX-License-Identifier: GPL-2.0
/* saluki-collector status: see status.h. In: the board. Out: a table, or JSON. */
#include "status.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/suggest.h"
#include "print.h"

enum { OPT_BOARD = 256, OPT_JSON };

const struct option_def status_defs[] = {
	{ OPT_BOARD, "board", "PATH",
	  "the collector's board\n"
	  "(default " BOARD_PATH ")" },
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

/* Logs why there is no board. */
static void explain(const char *path, int err)
{
	if (err == -EACCES || err == -EPERM)
		log_line("--board %s: %s; are you in the group " BOARD_GROUP
			 "? ('usermod -a -G " BOARD_GROUP " NAME', and log in again)",
			 path, strerror(-err));
	else if (err == -ENOENT || err == -ECONNREFUSED)
		log_line("--board %s: no collector is there; is saluki-collector running on this "
			 "machine?",
			 path);
	else if (err == -EPROTO)
		log_line("--board %s: the collector has another version than this program", path);
	else if (err == -EBADMSG)
		log_line("--board %s: the collector's numbers contradict each other", path);
	else if (err == -ENODATA || err == -EAGAIN)
		log_line("--board %s: the collector shows no state yet; try again in a second",
			 path);
	else
		log_line("--board %s: %s", path, strerror(-err));
}

static bool is_known(const struct board_state *s, char *name)
{
	const struct status_names one = { &name, 1 };

	for (uint32_t i = 0; i < s->collector.sensors; i++)
		if (status_is_named(&one, &s->sensors[i]))
			return true;
	return false;
}

static void log_unknown(const struct board_state *s, const char *name)
{
	struct suggest g;

	suggest_begin(&g, name, strlen(name));
	for (uint32_t i = 0; i < s->collector.sensors; i++) {
		suggest_offer(&g, s->sensors[i].name);
		suggest_offer(&g, s->sensors[i].group);
	}
	if (g.word)
		log_line("%s: the collector knows no such sensor or group; did you mean '%s'?",
			 name, g.word);
	else
		log_line("%s: the collector knows no such sensor or group", name);
}

static int print(const struct status_states *s, const struct status_names *n, bool json)
{
	int err;

	for (int i = 0; i < n->count; i++)
		if (!is_known(&s->now, n->list[i])) {
			log_unknown(&s->now, n->list[i]);
			return 1;
		}
	err = json ? status_json(stdout, s, n) : status_table(stdout, s, n);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
	if (err)
		log_line("cannot print: %s", strerror(-err));
	return err != 0;
}

static int run(const char *path, const struct status_names *names, bool json)
{
	struct board_view view = { 0 };
	struct status_states s;
	int err = board_open(&view, path), status;

	err = err ?: board_copy(&view, &s.now, &s.before);
	board_close(&view);
	if (err) {
		explain(path, err);
		return 1;
	}
	status = print(&s, names, json);
	board_state_free(&s.now);
	board_state_free(&s.before);
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
