// SPDX-License-Identifier: GPL-2.0
/* saluki-collector enrol: see enrol.h. In: names. Out: a config file for each sensor, with its new
 * private key, and their lines in the sensors file. */
#include "enrol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asked.h"
#include "collector/control/control.h"
#include "common/log.h"
#include "reload.h"
#include "sensors_edit.h"
#include "wire/sensor_config.h"

const struct option_def enrol_defs[] = {
	{ ASKED_TO, "to", "HOST:PORT",
	  "where sensors find the collector; up to three more to try,\n"
	  "in another order for each sensor" },
	{ ASKED_OUT, "out", "DIR", "write the sensors' config files here" },
	ASKED_SENSORS_DEF,
	{ ASKED_KEY, "key", "FILE", "the collector's private key" },
	{ ASKED_CONFIG, CONFIG_OPTION, "FILE",
	  "the collector's config file, which has --sensors and its\n"
	  "key" },
	ASKED_CONTROL_DEF,
	ASKED_GROUP_DEF,
	{ ASKED_PSK, "psk", NULL, "make a preshared key for each sensor, too" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

struct enrol {
	const struct asked *a;
	struct sensors_edit_line *lines;
	int count, folder;
	bool made_folder;
	int made; /* files */
	char collector[KEY_TEXT_LEN];
};

static void help(void)
{
	printf("Usage: saluki-collector enrol [OPTION]... --to HOST:PORT --out DIR NAME...\n\n"
	       "Makes keys for new sensors, adds the sensors to the sensors file, and writes a\n"
	       "config file for each, DIR/NAME.conf. Copy it to the sensor, and start there\n"
	       "'saluki run --config NAME.conf -i IF'. A running collector then reads the sensors\n"
	       "file again.\n\n");
	options_print(stdout, enrol_defs);
	printf("\nExit status: 0 done, 1 failed, 2 bad usage.\n");
}

/* ---- a sensor's file ------------------------------------------------------------------------- */

static void file_name(char out[NAME_MAX + 1], const struct sensors_edit_line *l)
{
	snprintf(out, NAME_MAX + 1, "%s.conf", l->name);
}

static int write_file(const struct enrol *e, int fd, int number, const struct keypair *pair)
{
	const struct sensors_edit_line *l = &e->lines[number];
	struct sensor_config c = { .to_count = e->a->to_count,
				   .collectors = { e->collector },
				   .collector_count = 1,
				   .preshared = l->preshared };
	char sensor[64];
	int err;

	snprintf(sensor, sizeof(sensor), "sensor %.31s, id %u", l->name, l->id);
	c.sensor = sensor;
	for (unsigned int i = 0; i < c.to_count; i++)
		c.to[i] = e->a->to[(i + number) % c.to_count];
	memcpy(c.secret, pair->secret, KEY_LEN);
	err = sensor_config_write(fd, &c);
	sodium_memzero(&c, sizeof(c));
	return err;
}

/* Makes the sensor's keys and file. */
static int make_sensor(struct enrol *e, int number)
{
	struct sensors_edit_line *l = &e->lines[number];
	char name[NAME_MAX + 1];
	uint8_t preshared[KEY_LEN];
	struct keypair pair;
	int fd, err;

	file_name(name, l);
	fd = openat(e->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err = -errno;
		log_line("--out %s: %s: %s", e->a->out, name, strerror(-err));
		return err;
	}
	e->made++;
	key_generate(pair.secret);
	key_public(pair.public, pair.secret);
	key_to_text(l->public, pair.public);
	if (e->a->psk) {
		randombytes_buf(preshared, sizeof(preshared));
		key_to_text(l->preshared, preshared);
	}
	err = write_file(e, fd, number, &pair);
	close(fd);
	sodium_memzero(preshared, sizeof(preshared));
	sodium_memzero(&pair, sizeof(pair));
	if (err)
		log_line("--out %s: %s: %s", e->a->out, name, strerror(-err));
	return err;
}

/* ---- all sensors ----------------------------------------------------------------------------- */

static int open_folder(struct enrol *e)
{
	const char *path = e->a->out;
	int err;

	e->made_folder = mkdir(path, 0700) == 0;
	e->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->folder >= 0)
		return 0;
	err = -errno;
	log_line("--out %s: %s", path, strerror(-err));
	return err;
}

static void undo(struct enrol *e)
{
	char name[NAME_MAX + 1];

	while (e->made) {
		file_name(name, &e->lines[--e->made]);
		unlinkat(e->folder, name, 0);
	}
	if (e->made_folder)
		rmdir(e->a->out);
}

/* The sensors file comes last: before, nothing uses the new files. */
static int make_all(struct enrol *e, struct sensors_edit *edit)
{
	int err = sensors_edit_check(edit, e->lines, e->count) ?: open_folder(e);

	for (int i = 0; !err && i < e->count; i++)
		err = make_sensor(e, i);
	if (!err)
		fsync(e->folder);
	err = err ?: sensors_edit_add(edit, e->lines, e->count);
	if (err)
		undo(e);
	if (e->folder >= 0)
		close(e->folder);
	return err;
}

static void print_all(const struct enrol *e)
{
	for (int i = 0; i < e->count; i++)
		printf("%s has id %u and %s/%s.conf\n", e->lines[i].name, e->lines[i].id, e->a->out,
		       e->lines[i].name);
}

static int enrol(const struct asked *a, char *const *names, int count)
{
	struct enrol e = { .a = a, .count = count, .folder = -1 };
	struct sensors_edit edit;
	int err = sensors_edit_open(&edit, a->sensors);

	if (err)
		return err;
	key_to_text(e.collector, a->own.public);
	e.lines = calloc(count, sizeof(*e.lines));
	for (int i = 0; e.lines && i < count; i++)
		e.lines[i] = (struct sensors_edit_line){ .name = names[i], .group = a->group };
	err = e.lines ? make_all(&e, &edit) : -ENOMEM;
	sensors_edit_close(&edit);
	if (!err) {
		print_all(&e);
		err = reload_collector(a->control);
	}
	if (e.lines)
		sodium_memzero(e.lines, count * sizeof(*e.lines));
	free(e.lines);
	return err;
}

static int check(const struct asked *a, int count)
{
	const char *wrong = NULL;

	if (!a->to_count)
		wrong = "--to HOST:PORT is missing: where do sensors find the collector?";
	else if (!a->out)
		wrong = "--out DIR is missing: where shall the sensors' config files go?";
	else if (!a->key && sodium_is_zero(a->own.secret, KEY_LEN))
		wrong = "the collector's key is missing: give its --key FILE, or --config FILE";
	else if (!count)
		wrong = "give names for the new sensors";
	if (wrong)
		log_line("enrol: %s", wrong);
	return wrong ? EXIT_USAGE : 0;
}

int enrol_main(int argc, char **argv)
{
	struct asked a;
	int status = asked_read(&a, enrol_defs, argc, argv);

	if (status == -1)
		help();
	else
		status = status ?: check(&a, argc - optind);
	if (!status && keys_init()) {
		log_line("libsodium does not start on this machine");
		status = 1;
	}
	if (!status)
		status = asked_key(&a) || enrol(&a, argv + optind, argc - optind) ||
			 asked_printed();
	asked_free(&a);
	return status < 0 ? 0 : status;
}
