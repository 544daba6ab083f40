// SPDX-License-Identifier: GPL-2.0
/* See asked.h. */
#include "asked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "collector/control/control.h"
#include "common/log.h"
#include "wire/sensor_config.h"

/* A copy is checked, because the text goes into files as it is. */
static int take_to(struct asked *a, const char *given)
{
	const char *host, *port;
	char copy[SENSOR_CONFIG_TO_MAX];
	size_t len = strlen(given);

	if (a->to_count == ENROL_TO_MAX) {
		log_line("--to %s: at most %d collectors", given, ENROL_TO_MAX);
		return -EINVAL;
	}
	memcpy(copy, given, len < sizeof(copy) ? len + 1 : sizeof(copy));
	if (len >= sizeof(copy) || given[strcspn(given, " \t\r\n#")] ||
	    options_address(copy, &host, &port) || !*host) {
		log_line("--to %s: must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given);
		return -EINVAL;
	}
	a->to[a->to_count++] = given;
	return 0;
}

static int take_option(struct asked *a, int id)
{
	switch (id) {
	case ASKED_SENSORS:
		a->sensors = optarg;
		return 0;
	case ASKED_CONTROL:
		a->control = optarg;
		return 0;
	case ASKED_CONFIG:
		a->config = optarg;
		return 0;
	case ASKED_GROUP:
		a->group = optarg;
		return 0;
	case ASKED_KEY:
		a->key = optarg;
		return 0;
	case ASKED_TO:
		return take_to(a, optarg);
	case ASKED_OUT:
		a->out = optarg;
		return 0;
	case ASKED_PSK:
		a->psk = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* ---- the collector's config file ------------------------------------------------------------- */

enum { FILE_KEY_TEXT = 512 };

static const struct option_def file_defs[] = {
	{ ASKED_SENSORS, "sensors", "FILE", NULL },
	{ ASKED_CONTROL, "control", "PATH", NULL },
	{ ASKED_KEY, "key", "FILE", NULL },
	{ 0 },
};

static const struct option_def file_secret_defs[] = {
	{ FILE_KEY_TEXT, "key-text", "PRIVATE-KEY", NULL },
	{ 0 },
};

/* Of several keys, the first one is the present one. */
static int take_key_text(struct asked *a, char *value)
{
	uint8_t secret[KEY_LEN];
	int err = key_from_text(secret, value);

	if (!err && !a->key && sodium_is_zero(a->own.secret, KEY_LEN))
		memcpy(a->own.secret, secret, KEY_LEN);
	sodium_memzero(secret, sizeof(secret));
	sodium_memzero(value, strlen(value));
	if (err)
		log_line("key-text: is not a private key; 'saluki genkey' makes one");
	return err;
}

/* The command line has precedence. */
static int read_config(struct asked *a)
{
	struct asked line = *a;
	int id;

	if (!a->config)
		return 0;
	if (config_open(&a->file, a->config))
		return -EINVAL;
	while ((id = config_next(&a->file, file_defs, file_secret_defs, true)) != -1) {
		if (id == ASKED_KEY && (a->key || !sodium_is_zero(a->own.secret, KEY_LEN)))
			continue;
		if (id == '?' ||
		    (id == FILE_KEY_TEXT ? take_key_text(a, optarg) : take_option(a, id)))
			return -EINVAL;
	}
	a->sensors = line.sensors ?: a->sensors;
	a->control = line.control ?: a->control;
	a->key = line.key ?: a->key;
	if (line.key)
		sodium_memzero(&a->own, sizeof(a->own));
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

int asked_read(struct asked *a, const struct option_def *defs, int argc, char **argv)
{
	int id;

	*a = (struct asked){ .sensors = NULL };
	signal(SIGPIPE, SIG_IGN); /* a change is finished also if nobody reads what is printed */
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h')
			return -1;
		if (take_option(a, id))
			return EXIT_USAGE;
	}
	if (read_config(a))
		return EXIT_USAGE;
	a->control = a->control ?: CONTROL_PATH;
	if (a->sensors)
		return 0;
	log_line("%s: --sensors FILE is missing, or --config FILE that has it", argv[0]);
	return EXIT_USAGE;
}

int asked_key(struct asked *a)
{
	const char *why = NULL;
	int fd, err;

	if (!sodium_is_zero(a->own.secret, KEY_LEN))
		return key_public(a->own.public, a->own.secret);
	fd = open(a->key, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : keys_read(fd, &a->own, NULL, &why);
	if (fd >= 0)
		close(fd);
	if (err)
		log_line("--key %s: %s", a->key, why ?: strerror(-err));
	return err;
}

int asked_printed(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	log_line("the change is made, but cannot be printed: %s", strerror(errno));
	return -EIO;
}

void asked_free(struct asked *a)
{
	sodium_memzero(&a->own, sizeof(a->own));
	config_close(&a->file);
}
