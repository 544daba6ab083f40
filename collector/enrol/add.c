// SPDX-License-Identifier: GPL-2.0
/* saluki-collector add and remove: see enrol.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asked.h"
#include "collector/control/control.h"
#include "common/log.h"
#include "enrol.h"
#include "reload.h"
#include "sensors_edit.h"

const struct option_def add_defs[] = {
	ASKED_SENSORS_DEF,
	{ ASKED_CONFIG, CONFIG_OPTION, "FILE", "the collector's config file, which has --sensors" },
	ASKED_CONTROL_DEF,
	ASKED_GROUP_DEF,
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

const struct option_def remove_defs[] = {
	ASKED_SENSORS_DEF,
	{ ASKED_CONFIG, CONFIG_OPTION, "FILE", "the collector's config file, which has --sensors" },
	ASKED_CONTROL_DEF,
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static int help(const char *usage, const char *does, const struct option_def *defs)
{
	printf("Usage: saluki-collector %s\n\n%s\n\n", usage, does);
	options_print(stdout, defs);
	printf("\nExit status: 0 done, 1 failed, 2 bad usage.\n");
	return 0;
}

static int add(const struct asked *a, const char *name, const uint8_t public[KEY_LEN])
{
	struct sensors_edit_line line = { .name = name, .group = a->group };
	struct sensors_edit e;
	int err = sensors_edit_open(&e, a->sensors);

	if (err)
		return err;
	key_to_text(line.public, public);
	err = sensors_edit_check(&e, &line, 1) ?: sensors_edit_add(&e, &line, 1);
	if (!err) {
		printf("%s has id %u in %s\n", name, line.id, e.path);
		err = reload_collector(a->control);
	}
	sensors_edit_close(&e);
	return err;
}

int add_main(int argc, char **argv)
{
	uint8_t public[KEY_LEN];
	struct asked a;
	int status = asked_read(&a, add_defs, argc, argv);

	if (status == -1)
		return help(
			"add [OPTION]... NAME PUBLIC-KEY",
			"Adds a sensor to the sensors file. 'saluki setup' prints this command "
			"with the\nsensor's key. A running collector then reads the file again.",
			add_defs);
	if (!status && argc - optind != 2) {
		log_line("add: give a sensor's name and its public key");
		status = EXIT_USAGE;
	} else if (!status && key_from_text(public, argv[optind + 1])) {
		log_line("add: the public key is not 44 characters of base64");
		status = EXIT_USAGE;
	}
	if (!status)
		status = add(&a, argv[optind], public) || asked_printed() ? 1 : 0;
	asked_free(&a);
	return status;
}

static int remove_all(const struct asked *a, char *const *names, int count)
{
	struct sensors_edit e;
	int err = sensors_edit_open(&e, a->sensors);

	if (err)
		return err;
	err = sensors_edit_remove(&e, names, count);
	if (!err) {
		printf("%d sensor%s removed from %s\n", count, PLURAL(count), e.path);
		err = reload_collector(a->control);
	}
	sensors_edit_close(&e);
	return err;
}

int remove_main(int argc, char **argv)
{
	struct asked a;
	int status = asked_read(&a, remove_defs, argc, argv);

	if (status == -1)
		return help("remove [OPTION]... NAME...",
			    "Removes sensors from the sensors file. A running collector then reads "
			    "the file\nagain, and refuses these sensors.",
			    remove_defs);
	if (!status && optind == argc) {
		log_line("remove: give the names of sensors");
		status = EXIT_USAGE;
	}
	if (!status)
		status = remove_all(&a, argv + optind, argc - optind) || asked_printed() ? 1 : 0;
	asked_free(&a);
	return status;
}
