// SPDX-License-Identifier: GPL-2.0
/* The command line of `saluki run`: a table of options, and checks of their values. */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "common/config.h"
#include "common/log.h"
#include "common/options.h"
#include "common/suggest.h"
#include "habits.h"
#include "parse_to.h"
#include "sensor_options.h"
#include "subcommands.h"
#include "agent/export/session.h"
#include "wire/key_text.h"
#include "wire/order.h"

#ifdef WITHOUT_BPF /* and without `saluki capture` */
#define TO_CAPTURE_HERE ""
#else
#define TO_CAPTURE_HERE " To capture here, use 'saluki capture -i IF'"
#endif

#define SPOOL_BYTES_MIN (1024 * 1024)
#define SPOOL_BYTES_MAX (1ULL << 40)
#define SPOOL_BYTES_DEFAULT (64 * 1024 * 1024)

enum {
	OPT_TO = OPT_SENSOR_OWN,
	OPT_KEY,
	OPT_COLLECTOR_KEYS,
	OPT_PAD,
	OPT_ONE_WAY,
	OPT_RENEW,
	OPT_ALLOW_CONTROL,
	OPT_SPOOL,
	OPT_SPOOL_BYTES,
	OPT_CONFIG,
	OPT_KEY_TEXT,
	OPT_COLLECTOR,
	OPT_PRESHARED,
	OPT_NEXT,
};

const struct option_def run_defs[] = {
	SENSOR_INPUT_DEFS,
	{ OPT_TO, "to", "HOST:PORT",
	  "the collector; [ADDR]:PORT for IPv6; up to three more to\n"
	  "try if it does not answer" },
	{ OPT_KEY, "key", "FILE", "the sensor's private key, then the collector's public key" },
	{ OPT_COLLECTOR_KEYS, "collector-keys", "FILE",
	  "let the collector change its key; its keys are kept here" },
	SENSOR_OPTION_DEFS("192", CAPTURE_KEEP_TEXT, "in", "1000"),
	{ OPT_PAD, "pad", NULL, "pad all datagrams to 1232 bytes" },
	{ OPT_ONE_WAY, "one-way", NULL,
	  "work without replies: no retransmission; a thief of the\n"
	  "collector's key can decrypt recordings" },
	{ OPT_RENEW, "renew", "SECONDS", "age at which session keys are renewed (default 120)" },
	{ OPT_SPOOL, "spool", "FILE", "keep undelivered frames here, also for the next run" },
	{ OPT_SPOOL_BYTES, "spool-bytes", "BYTES",
	  "maximum size of the spool; suffix K, M or G (default 64M)" },
	{ OPT_ALLOW_CONTROL, "allow-control", "KIND,...",
	  "accept these orders of the collector: channels, filter,\n"
	  "snaplen, separated by commas (none if not given)" },
	CONFIG_DEF(OPT_CONFIG),
	{ 'q', "quiet", NULL, "log only warnings and errors; no status line" },
	{ 'v', "verbose", NULL, "log more: attempts, sessions, lookups, levels" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Only a file with --config has these: instead of --key, keys. */
static const struct option_def run_secret_defs[] = {
	{ OPT_KEY_TEXT, "key-text", "PRIVATE-KEY", NULL },
	{ OPT_COLLECTOR, "collector", "PUBLIC-KEY", NULL },
	{ OPT_PRESHARED, "preshared", "PRESHARED-KEY", NULL },
	{ OPT_NEXT, "next", "PUBLIC-KEY", NULL },
	{ 0 },
};

/* A command line, and what becomes a key file. */
struct run_command {
	struct run_options *o;
	struct key_text keys;
};

static void help(void)
{
	printf("Usage: saluki run -i IF --to HOST:PORT --key FILE [OPTION]... [EXPRESSION]\n"
	       "       saluki run -r FILE --to HOST:PORT --key FILE [OPTION]... [EXPRESSION]\n\n"
	       "Captures the frames that match a pcap-filter(7) expression, truncates them in the\n"
	       "kernel, and exports them, compressed and encrypted, to a saluki-collector.\n\n");
	options_print(stdout, run_defs);
	printf("\nSIGINT and SIGTERM end the run and lose no frame; SIGUSR1 prints the ledger.\n"
	       "Exit status: 0 all exported, 1 failed, 2 bad usage.\n");
}

static int add_to(struct run_options *o)
{
	int err;

	if (o->to_count == SOCKETS_PEERS) {
		log_line("--to %s: at most %d collectors", optarg, SOCKETS_PEERS);
		return -EINVAL;
	}
	err = parse_to(&o->to[o->to_count], optarg);
	o->to_count += !err;
	return err;
}

static int parse_spool_bytes(struct run_options *o)
{
	if (sensor_option_size(&o->spool_bytes, "KMG", SPOOL_BYTES_MIN, SPOOL_BYTES_MAX))
		return 0;
	log_line("--spool-bytes %s: must be from 1M to 1024G; K, M or G may stand behind it",
		 optarg);
	return -EINVAL;
}

/* "channels", "filter", "snaplen", or several. */
static int parse_allow_control(struct run_options *o)
{
	const char *at = optarg;
	struct suggest s;

	for (;;) {
		size_t len = strcspn(at, ",");
		enum order_kind kind = 0;

		suggest_begin(&s, at, len);
		for (; kind < WIRE_ORDER_KINDS; kind++) {
			suggest_offer(&s, order_kind_name(kind));
			if (strlen(order_kind_name(kind)) == len &&
			    !strncmp(order_kind_name(kind), at, len))
				break;
		}
		if (kind == WIRE_ORDER_KINDS) {
			log_line("--allow-control %s: must be channels, filter or snaplen, or "
				 "several with commas%s%s%s",
				 optarg, s.word ? "; did you mean " : "", s.word ?: "",
				 s.word ? "?" : "");
			return -EINVAL;
		}
		o->allowed |= 1u << kind;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int parse_option(struct run_command *c, int id)
{
	struct run_options *o = c->o;

	switch (id) {
	case OPT_TO:
		return add_to(o);
	case OPT_KEY:
		o->key_file = optarg;
		return 0;
	case OPT_KEY_TEXT:
		return key_text_secret(&c->keys, optarg);
	case OPT_COLLECTOR:
		return key_text_collector(&c->keys, optarg);
	case OPT_PRESHARED:
		return key_text_preshared(&c->keys, optarg);
	case OPT_NEXT:
		return key_text_next(&c->keys, optarg);
	case OPT_COLLECTOR_KEYS:
		o->collector_keys = optarg;
		return 0;
	case OPT_PAD:
		o->pad = true;
		return 0;
	case OPT_ONE_WAY:
		o->one_way = true;
		return 0;
	case OPT_RENEW:
		return parse_number("--renew", 5, 86400, &o->renew_s);
	case OPT_SPOOL:
		o->spool = optarg;
		return 0;
	case OPT_SPOOL_BYTES:
		return parse_spool_bytes(o);
	case OPT_ALLOW_CONTROL:
		return parse_allow_control(o);
	default:
		return sensor_option(o, id);
	}
}

static const char *wrong_keys(const struct run_command *c)
{
	bool any = c->keys.given || c->keys.collectors;

	if (c->o->key_file)
		return any ? "give --key FILE, or key-text and collector, not both" : NULL;
	if (!any)
		return "--key FILE is missing; make a key with 'saluki genkey'";
	return !c->keys.given	     ? "the config file has no key-text; make a key with 'saluki "
				       "genkey'"
	       : !c->keys.collectors ? "the config file has no 'collector = PUBLIC-KEY'"
				     : NULL;
}

/* Checks combinations of options. */
static int check(const struct run_command *c)
{
	const struct run_options *o = c->o;
	const char *wrong = NULL;

	if (!o->capture.count == !o->file)
		wrong = "give either -i IF or -r FILE";
	else if (!o->to_count)
		wrong = "--to HOST:PORT is missing: where is the collector?" TO_CAPTURE_HERE;
	else if (wrong_keys(c))
		wrong = wrong_keys(c);
	else if (o->one_way && o->to_count > 1)
		wrong = "--one-way goes with one --to: nobody tells that another is to be tried";
	else if (o->one_way && o->allowed)
		wrong = "--allow-control: with --one-way no order can come";
	else if (o->one_way && o->spool)
		wrong = "--spool: with --one-way nobody tells what was not delivered";
	if (wrong)
		log_line("run: %s", wrong);
	return wrong ? -EINVAL : 0;
}

static int begin_with_keys(void *arg)
{
	return *(const int *)arg;
}

/* From here on, the keys are in a pipe alone. */
static int take_keys(struct run_command *c, const char *config)
{
	struct run_options *o = c->o;

	if (!c->keys.given)
		return 0;
	o->key_file = config;
	o->begin = begin_with_keys;
	o->begin_arg = o->begin_fds;
	o->begin_fds[0] = key_text_open(&c->keys);
	if (o->begin_fds[0] >= 0)
		return 0;
	log_line("cannot make a pipe: %s", strerror(-o->begin_fds[0]));
	return EXIT_FAILURE;
}

int options_parse(struct run_options *o, int argc, char **argv)
{
	struct config_options in = { run_defs, run_secret_defs, run_habits, { 0 } };
	struct run_command c = { .o = o };
	int id, status;

	sensor_options_init(o);
	if (config_begin(&in, argc, argv))
		return EXIT_USAGE;
	while ((id = config_option(&in, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (!options_log_level(id, &o->log_level) && parse_option(&c, id))
			return EXIT_USAGE;
	}
	if (capture_expression(&o->capture, argc, argv) || check(&c) ||
	    sensor_options_finish(o, "run"))
		return EXIT_USAGE;
	status = take_keys(&c, in.file.path);
	return status ?: sensor_options_prepare(o, "run");
}
