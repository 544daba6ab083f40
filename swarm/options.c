// SPDX-License-Identifier: GPL-2.0
/*
 * The options of saluki-swarm, and the list of its sensors for the collector. In: a command line.
 * Out: a valid struct swarm_options.
 */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "common/completion.h"
#include "common/log.h"
#include "common/options.h"
#include "common/version.h"
#include "swarm.h"

#define SENSORS_MAX 65535 /* ids have 16 bits */

enum {
	OPT_TO = 't',
	OPT_COLLECTOR_KEY = 256,
	OPT_COUNT,
	OPT_SEED,
	OPT_FIRST,
	OPT_SENSORS_FILE,
	OPT_RATE,
	OPT_COMBOS,
	OPT_SECONDS,
	OPT_PATIENCE,
	OPT_RENEW,
	OPT_CLOCK_AHEAD,
	OPT_PAD,
	OPT_JSON,
	OPT_COMPLETION,
	OPT_VERSION,
};

static const struct option_def defs[] = {
	{ OPT_COLLECTOR_KEY, "collector-key", "KEY", "the collector's public key" },
	{ OPT_COUNT, "count", "N", "number of sensors (default 100)" },
	{ OPT_SEED, "seed", "TEXT", "text to derive their keys from (default swarm)" },
	{ OPT_FIRST, "first", "ID", "id of the first sensor (default 1)" },
	{ OPT_SENSORS_FILE, "sensors-file", "FILE", "write the collector's sensors file" },
	{ OPT_TO, "to", "HOST:PORT", "run against this collector" },
	{ 'r', "read", "FILE", "send frames of this file, not generated ones" },
	{ OPT_RATE, "rate", "N", "total datagrams with frames per second (default 0, any)" },
	{ OPT_COMBOS, "combos", "N", "combos per sensor (10; with --seconds: no limit)" },
	{ OPT_SECONDS, "seconds", "S", "duration (default 0, until all combos are sent)" },
	{ OPT_PATIENCE, "patience", "S", "then wait for unconfirmed combos (default 60)" },
	{ OPT_RENEW, "renew", "S", "age at which session keys are renewed (default 120)" },
	{ OPT_CLOCK_AHEAD, "clock-ahead", "S", "set the sensors' clocks ahead (default 0)" },
	{ OPT_PAD, "pad", NULL, "pad all datagrams to 1232 bytes" },
	{ OPT_JSON, "json", NULL, "print the report as JSON" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* ---- the list of sensors --------------------------------------------------------------------- */

static void list_print(FILE *f, const struct swarm_options *o)
{
	fprintf(f, "# saluki-swarm: name id public-key\n");
	for (long i = o->first; i < o->first + o->count; i++) {
		char text[KEY_TEXT_LEN];
		struct keypair own;

		swarm_key(&own, o->seed, i);
		key_to_text(text, own.public);
		sodium_memzero(&own, sizeof(own));
		fprintf(f, "swarm-%05ld %ld %s\n", i, i, text);
	}
}

int swarm_list_write(const struct swarm_options *o)
{
	FILE *f = strcmp(o->sensors_file, "-") ? fopen(o->sensors_file, "w") : stdout;
	bool failed;

	if (f)
		list_print(f, o);
	failed = !f || ferror(f) || fflush(f);
	if (failed)
		log_line("--sensors-file %s: %s", o->sensors_file, strerror(errno));
	if (f && f != stdout)
		fclose(f);
	return failed ? -EIO : 0;
}

/* ---- options -------------------------------------------------------------------------------- */

static int parse_number(int id, struct swarm_options *o)
{
	switch (id) {
	case OPT_COUNT:
		return options_number("--count", optarg, 1, SENSORS_MAX, &o->count);
	case OPT_FIRST:
		return options_number("--first", optarg, 1, SENSORS_MAX, &o->first);
	case OPT_RATE:
		return options_number("--rate", optarg, 0, 10000000, &o->rate);
	case OPT_COMBOS:
		return options_number("--combos", optarg, 0, 1000000000, &o->combos);
	case OPT_SECONDS:
		return options_number("--seconds", optarg, 0, 1000000, &o->seconds);
	case OPT_RENEW:
		return options_number("--renew", optarg, 1, 86400, &o->renew);
	case OPT_CLOCK_AHEAD:
		return options_number("--clock-ahead", optarg, 0, 1000000000, &o->clock_ahead);
	}
	return options_number("--patience", optarg, 1, 1000000, &o->patience);
}

static int parse_option(int id, struct swarm_options *o)
{
	switch (id) {
	case OPT_TO:
		if (options_address(optarg, &o->host, &o->port) == 0 && *o->host)
			return 0;
		log_line("--to: must be HOST:PORT");
		return -EINVAL;
	case OPT_COLLECTOR_KEY:
		o->has_collector = key_from_text(o->collector, optarg) == 0;
		if (!o->has_collector)
			log_line("--collector-key: is no key; give what 'saluki pubkey' prints");
		return o->has_collector ? 0 : -EINVAL;
	case OPT_SEED:
		o->seed = optarg;
		return 0;
	case OPT_SENSORS_FILE:
		o->sensors_file = optarg;
		return 0;
	case 'r':
		o->file = optarg;
		return 0;
	case OPT_PAD:
		o->pad = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	}
	return parse_number(id, o);
}

static int check(struct swarm_options *o)
{
	const char *why = NULL;

	if (!o->host && !o->sensors_file)
		why = "give --to, --sensors-file, or both";
	else if (o->host && !o->has_collector)
		why = "--to needs the collector's public key (--collector-key)";
	else if (o->first + o->count - 1 > SENSORS_MAX)
		why = "--first and --count: ids end at 65535";
	if (why)
		log_line("%s", why);
	if (o->combos < 0 && !o->seconds)
		o->combos = 10;
	return why ? -EINVAL : 0;
}

static void help(void)
{
	printf("Usage: saluki-swarm [OPTION]...\n\n"
	       "Simulates many sensors that export encrypted frames to a collector, to test it.\n"
	       "The collector needs their list (--sensors-file). Anyone who knows the seed can\n"
	       "compute all keys. The exit status is 1 if some combos were not confirmed.\n\n");
	options_print(stdout, defs);
}

int swarm_options_parse(struct swarm_options *o, int argc, char **argv)
{
	int id;

	*o = (struct swarm_options){ .seed = "swarm",
				     .count = 100,
				     .first = 1,
				     .combos = -1,
				     .patience = 60,
				     .renew = 120 };
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-swarm", defs, NULL, true, NULL, NULL) ? 1
											      : -1;
		if (id == OPT_VERSION) {
			printf("saluki-swarm %s\n", SALUKI_VERSION);
			return -1;
		}
		if (id == '?' || parse_option(id, o))
			return EXIT_USAGE;
	}
	if (optind < argc) {
		log_line("%s: not an option; see 'saluki-swarm --help'", argv[optind]);
		return EXIT_USAGE;
	}
	return check(o) ? EXIT_USAGE : 0;
}
