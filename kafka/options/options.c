// SPDX-License-Identifier: GPL-2.0
/* The command lines of saluki-kafka's commands. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common/config.h"
#include "common/duration.h"
#include "common/privsep.h"
#include "common/unix_address.h"

#define YEAR_US (365 * DURATION_DAY_US)

enum {
	OPT_CONFIG = 256,
	OPT_SOCKET,
	OPT_BROKERS,
	OPT_PREFIX,
	OPT_KAFKA_CONFIG,
	OPT_GROUP,
	OPT_INSTANCE,
	OPT_ALLOW_WEAK,
	OPT_PARTITIONS,
	OPT_REPLICAS,
	OPT_RETENTION,
	OPT_USER,
};

#define DEF_BROKERS                                                                                \
	{                                                                                          \
		OPT_BROKERS, "brokers", "HOST:PORT,...", "brokers to ask for all others"           \
	}
#define DEF_PREFIX                                                                                 \
	{                                                                                          \
		OPT_PREFIX, "topic-prefix", "PREFIX",                                              \
			"the topics are PREFIX.combos, PREFIX.sensors and\n"                       \
			"PREFIX.ledger (default " OPTIONS_PREFIX_DEFAULT ")"                       \
	}
#define DEF_KAFKA_CONFIG                                                                           \
	{                                                                                          \
		OPT_KAFKA_CONFIG, "kafka-config", "FILE",                                          \
			"librdkafka's settings, such as those of TLS and SASL;\n"                  \
			"key=value lines"                                                          \
	}
#define DEF_USER                                                                                   \
	{                                                                                          \
		OPT_USER, "user", "NAME",                                                          \
			"user of the process (default " OPTIONS_USER                               \
			"\nif there is one, otherwise nobody)"                                     \
	}
#define DEF_QUIET                                                                                  \
	{                                                                                          \
		'q', "quiet", NULL, "print warnings and errors only"                               \
	}
#define DEF_VERBOSE                                                                                \
	{                                                                                          \
		'v', "verbose", NULL, "print librdkafka's messages too"                            \
	}
#define DEF_HELP                                                                                   \
	{                                                                                          \
		'h', "help", NULL, "print this"                                                    \
	}

const struct option_def put_defs[] = {
	CONFIG_DEF(OPT_CONFIG),
	{ OPT_SOCKET, "socket", "PATH", "the socket of saluki-collector --sink" },
	DEF_BROKERS,
	DEF_PREFIX,
	DEF_KAFKA_CONFIG,
	{ OPT_ALLOW_WEAK, "allow-weak", NULL, "accept topics that can lose acknowledged messages" },
	DEF_USER,
	DEF_QUIET,
	DEF_VERBOSE,
	DEF_HELP,
	{ 0 },
};

const struct option_def get_defs[] = {
	CONFIG_DEF(OPT_CONFIG),
	{ OPT_SOCKET, "socket", "PATH", "the socket of saluki-collector --source" },
	DEF_BROKERS,
	{ OPT_GROUP, "group", "NAME", "consumer group, which divides the partitions" },
	{ OPT_INSTANCE, "instance", "NAME",
	  "name of this member of the group\n"
	  "(default: the host's name)" },
	DEF_PREFIX,
	DEF_KAFKA_CONFIG,
	DEF_USER,
	DEF_QUIET,
	DEF_VERBOSE,
	DEF_HELP,
	{ 0 },
};

const struct option_def topics_defs[] = {
	DEF_BROKERS,
	DEF_PREFIX,
	{ OPT_PARTITIONS, "partitions", "COUNT", "partitions of a new topic (default 12)" },
	{ OPT_REPLICAS, "replicas", "COUNT", "copies of each partition (default 3)" },
	{ OPT_RETENTION, "retention", "TIME",
	  "keep combos for this time, such as 48h\n"
	  "(default: the brokers' log.retention)" },
	DEF_KAFKA_CONFIG,
	{ OPT_ALLOW_WEAK, "allow-weak", NULL,
	  "create topics with fewer than 3 copies; weak topics are\n"
	  "no error" },
	DEF_USER,
	DEF_QUIET,
	DEF_VERBOSE,
	DEF_HELP,
	{ 0 },
};

static const struct {
	const struct option_def *defs;
	const char *name, *usage, *text, *end;
} commands[] = {
	[OPTIONS_PUT] = { put_defs, "put", "--socket PATH --brokers HOST:PORT,... [OPTION]...",
			  "Carries messages of saluki-collector --sink to Kafka's brokers. A "
			  "message "
			  "is done\nwhen all brokers that must have it acknowledged it.",
			  "0 stopped by a signal, 1 failed, 2 bad usage" },
	[OPTIONS_GET] = { get_defs, "get",
			  "--socket PATH --brokers HOST:PORT,... --group NAME [OPTION]...",
			  "Carries messages of Kafka's brokers to saluki-collector --source. An "
			  "offset is\ncommitted after the collector has written the message.",
			  "0 stopped by a signal, 1 failed, 2 bad usage" },
	[OPTIONS_TOPICS] = { topics_defs, "topics", "--brokers HOST:PORT,... [OPTION]...",
			     "Creates those of the three topics that are missing, and prints all "
			     "of "
			     "them. It\nnever changes a topic, and says what is wrong with it.",
			     "0 all topics are fine, 1 a topic is not, or failed, 2 bad usage" },
};

static void help(enum options_command c)
{
	printf("Usage: saluki-kafka %s %s\n\n%s\n\n", commands[c].name, commands[c].usage,
	       commands[c].text);
	options_print(stdout, commands[c].defs);
	printf("\nExit status: %s.\n", commands[c].end);
}

/* ---- one option ------------------------------------------------------------------------------ */

static int wrong(const char *option, const char *why)
{
	log_line("--%s %s: %s", option, optarg, why);
	return -EINVAL;
}

static int parse_socket(struct kafka_options *o)
{
	struct sockaddr_un a;

	o->socket = optarg;
	if (!*optarg)
		return wrong("socket", "must be the path of a socket");
	return unix_address(&a, optarg) ? wrong("socket", "the path is too long") : 0;
}

/* Names such as topics' and groups' must not need escapes in lines of text. */
static bool is_name(const char *text, size_t max)
{
	size_t len = strlen(text);

	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	return len && len <= max;
}

_Static_assert(OPTIONS_PREFIX_MAX == 200, "the message below");

static int parse_name(const char *option, const char **name)
{
	*name = optarg;
	return is_name(optarg, OPTIONS_PREFIX_MAX)
		       ? 0
		       : wrong(option, "must be 1 to 200 letters, digits, '.', '_' or '-'");
}

/* librdkafka would take a port modulo 65536, and a word for 0. */
static bool is_broker(const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	unsigned int port = 0;

	if (!colon || colon == text || colon + 1 == text + len || text + len - colon > 6)
		return false;
	for (const char *c = colon + 1; c < text + len; c++) {
		if (!isdigit((unsigned char)*c))
			return false;
		port = port * 10 + *c - '0';
	}
	return port && port <= 65535 &&
	       (*text == '[' ? colon[-1] == ']' : !memchr(text, ':', colon - text));
}

/* librdkafka reads the list, and asks the brokers for all others. */
static int parse_brokers(struct kafka_options *o)
{
	bool fine = *optarg && !strpbrk(optarg, " \t=/");

	o->brokers = optarg;
	for (const char *at = optarg, *end; fine; at = end + 1) {
		end = strchrnul(at, ',');
		fine = is_broker(at, end - at);
		if (!*end)
			break;
	}
	return fine ? 0 : wrong("brokers", "must be HOST:PORT, or several with commas");
}

static int parse_retention(struct kafka_options *o)
{
	uint64_t us;

	if (duration_us(optarg, strlen(optarg), YEAR_US, &us) || us < 60000000)
		return wrong("retention", "must be a time with its unit, m or h: 1m to 8760h");
	o->retention_ms = us / 1000;
	return 0;
}

static int parse_option(struct kafka_options *o, int id)
{
	switch (id) {
	case OPT_SOCKET:
		return parse_socket(o);
	case OPT_BROKERS:
		return parse_brokers(o);
	case OPT_PREFIX:
		return parse_name("topic-prefix", &o->prefix);
	case OPT_KAFKA_CONFIG:
		o->kafka_config = optarg;
		return 0;
	case OPT_GROUP:
		return parse_name("group", &o->group);
	case OPT_INSTANCE:
		return parse_name("instance", &o->instance);
	case OPT_ALLOW_WEAK:
		o->allow_weak = true;
		return 0;
	case OPT_PARTITIONS:
		return options_number("--partitions", optarg, 1, 10000, &o->partitions);
	case OPT_REPLICAS:
		return options_number("--replicas", optarg, 1, 100, &o->replicas);
	case OPT_RETENTION:
		return parse_retention(o);
	case OPT_USER:
		o->user = optarg;
		return 0;
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->level) ? 0 : -EINVAL;
	}
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int check(const struct kafka_options *o, int argc, char **argv)
{
	const char *name = commands[o->command].name, *missing = NULL;

	if (optind < argc) {
		log_line("%s: %s: takes no arguments; see 'saluki-kafka %s --help'", name,
			 argv[optind], name);
		return -EINVAL;
	}
	if (o->command != OPTIONS_TOPICS && !o->socket)
		missing =
			o->command == OPTIONS_PUT
				? "--socket PATH is missing: the path of the collector's --sink"
				: "--socket PATH is missing: the path of the collector's --source";
	else if (!o->brokers)
		missing = "--brokers HOST:PORT is missing";
	else if (o->command == OPTIONS_GET && !o->group)
		missing = "--group NAME is missing; members of one group divide the partitions";
	else if (o->command == OPTIONS_TOPICS && o->replicas < OPTIONS_REPLICAS && !o->allow_weak)
		missing = "with fewer than 3 --replicas, brokers can lose acknowledged messages; "
			  "--allow-weak accepts that";
	if (missing)
		log_line("%s: %s", name, missing);
	return missing ? -EINVAL : 0;
}

/* Only the services have --config. */
static int next(struct config_options *in, bool has_file, int argc, char **argv)
{
	return has_file ? config_option(in, argc, argv) : options_next(in->defs, argc, argv);
}

int options_parse(struct kafka_options *o, enum options_command command, int argc, char **argv)
{
	struct config_options in = { commands[command].defs, NULL, NULL, { 0 } };
	bool has_file = command != OPTIONS_TOPICS;
	int id;

	*o = (struct kafka_options){ .command = command,
				     .prefix = OPTIONS_PREFIX_DEFAULT,
				     .partitions = OPTIONS_PARTITIONS,
				     .replicas = OPTIONS_REPLICAS,
				     .user = getpwnam(OPTIONS_USER) ? OPTIONS_USER
								    : PRIVSEP_USER_DEFAULT };
	host_name(o->host);
	o->instance = o->host;
	if (has_file && config_begin(&in, argc, argv))
		return EXIT_USAGE;
	while ((id = next(&in, has_file, argc, argv)) != -1) {
		if (id == 'h') {
			help(command);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	return check(o, argc, argv) ? EXIT_USAGE : 0;
}
