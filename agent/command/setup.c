// SPDX-License-Identifier: GPL-2.0
/* saluki setup: makes a sensor's key and config file. Out: the file, and the command that adds the
 * sensor to the collector. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/options/parse_to.h"
#include "agent/options/subcommands.h"
#include "common/host_name.h"
#include "common/log.h"
#include "common/options.h"
#include "wire/keys.h"
#include "wire/sensor_config.h"

#define SETUP_FOLDER "/etc/saluki"
#define SETUP_PATH SETUP_FOLDER "/sensor.conf"

enum { OPT_TO = 256, OPT_COLLECTOR, OPT_OUT };

const struct option_def setup_defs[] = {
	{ OPT_TO, "to", "HOST:PORT", "the collector; up to three more to try" },
	{ OPT_COLLECTOR, "collector", "PUBLIC-KEY",
	  "the collector's public key; one for each --to if they differ" },
	{ OPT_OUT, "out", "FILE", "write the config file here (default " SETUP_PATH ")" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

_Static_assert(SOCKETS_PEERS <= KEYS_PEERS_MAX, "a sensor's collectors");

struct setup {
	const char *to[SOCKETS_PEERS], *out;
	char collectors[KEYS_PEERS_MAX][KEY_TEXT_LEN];
	unsigned int to_count, collectors_count;
	struct keypair pair;
};

static void help(void)
{
	printf("Usage: saluki setup --to HOST:PORT --collector PUBLIC-KEY [--out FILE]\n\n"
	       "Makes this sensor's key, and writes a config file for 'saluki run --config FILE\n"
	       "-i IF'. Prints the command that adds the sensor to the collector's list.\n\n");
	options_print(stdout, setup_defs);
	printf("\nExit status: 0 done, 1 failed, 2 bad usage.\n");
}

static int add_to(struct setup *s)
{
	struct sockets_name name;

	if (s->to_count == SOCKETS_PEERS) {
		log_line("--to %s: at most %d collectors", optarg, SOCKETS_PEERS);
		return -EINVAL;
	}
	if (parse_to(&name, optarg))
		return -EINVAL;
	if (optarg[strcspn(optarg, " \t\r\n#")]) {
		log_line("--to %s: has a blank or a '#'", optarg);
		return -EINVAL;
	}
	s->to[s->to_count++] = optarg;
	return 0;
}

static int add_collector(struct setup *s)
{
	uint8_t key[KEY_LEN];

	if (s->collectors_count == KEYS_PEERS_MAX || key_from_text(key, optarg)) {
		log_line("--collector %s: %s", optarg,
			 s->collectors_count == KEYS_PEERS_MAX
				 ? "there are more than four"
				 : "is not a public key of 44 characters of base64");
		return -EINVAL;
	}
	key_to_text(s->collectors[s->collectors_count++], key);
	return 0;
}

static int take_option(struct setup *s, int id)
{
	switch (id) {
	case OPT_TO:
		return add_to(s);
	case OPT_COLLECTOR:
		return add_collector(s);
	case OPT_OUT:
		s->out = optarg;
		return 0;
	default:
		return -EINVAL;
	}
}

static int check(const struct setup *s, int arguments)
{
	const char *wrong = NULL;

	if (arguments)
		wrong = "takes no arguments; see 'saluki setup --help'";
	else if (!s->to_count)
		wrong = "--to HOST:PORT is missing: where is the collector?";
	else if (!s->collectors_count)
		wrong = "--collector PUBLIC-KEY is missing; 'saluki pubkey' prints it from the "
			"collector's private key";
	if (wrong)
		log_line("setup: %s", wrong);
	return wrong ? EXIT_USAGE : 0;
}

static int write_text(const struct setup *s, int fd)
{
	struct sensor_config c = { .sensor = "",
				   .to_count = s->to_count,
				   .collector_count = s->collectors_count,
				   .preshared = "" };
	int err;

	memcpy(c.to, s->to, sizeof(s->to));
	for (unsigned int i = 0; i < s->collectors_count; i++)
		c.collectors[i] = s->collectors[i];
	memcpy(c.secret, s->pair.secret, KEY_LEN);
	err = sensor_config_write(fd, &c);
	sodium_memzero(&c, sizeof(c));
	return err;
}

/* Writes a new file. */
static int write_file(const struct setup *s)
{
	int fd = open(s->out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : write_text(s, fd);

	if (err && fd >= 0)
		unlink(s->out);
	if (fd >= 0)
		close(fd);
	if (err)
		log_line("--out %s: %s%s", s->out, strerror(-err),
			 err == -EEXIST ? "; its key stays as it is" : "");
	return err;
}

static int setup(struct setup *s)
{
	char name[HOST_NAME_LEN], public[KEY_TEXT_LEN];
	int err;

	if (!s->out) {
		s->out = SETUP_PATH;
		mkdir(SETUP_FOLDER, 0755);
	}
	key_generate(s->pair.secret);
	key_public(s->pair.public, s->pair.secret);
	err = write_file(s);
	if (err)
		return err;
	host_name(name);
	key_to_text(public, s->pair.public);
	log_line("wrote %s; the collector's machine needs this command:", s->out);
	printf("saluki-collector add --config " SETUP_FOLDER "/collector.conf %s %s\n", name,
	       public);
	return fflush(stdout);
}

int setup_main(int argc, char **argv)
{
	struct setup s = { .to_count = 0 };
	int id, status;

	while ((id = options_next(setup_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (take_option(&s, id))
			return EXIT_USAGE;
	}
	status = check(&s, argc - optind);
	if (!status && keys_init()) {
		log_line("libsodium does not start on this machine");
		status = 1;
	}
	if (!status)
		status = setup(&s) != 0;
	sodium_memzero(&s, sizeof(s));
	return status;
}
