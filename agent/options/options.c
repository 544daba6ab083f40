// SPDX-License-Identifier: GPL-2.0
/* The command line of `saluki run`: a table of options, and checks of their values. */
#include "options.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/options.h"
#include "common/suggest.h"
#include "habits.h"
#include "sensor_options.h"
#include "subcommands.h"
#include "agent/export/session.h"
#include "wire/order.h"

#define TO_LEN_MAX 280

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
	{ 'q', "quiet", NULL, "log only warnings and errors; no status line" },
	{ 'v', "verbose", NULL, "log more: attempts, sessions, lookups, levels" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
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

/* A name may be resolved later. A malformed name is an error now. */
static const char *to_wrong(const struct sockets_name *to)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE }, *list;
	struct sockets_address a;
	bool numeric = strchr(to->host, ':') || !to->host[strspn(to->host, "0123456789.")];

	if (numeric && sockets_numeric(&a, to))
		return "is no address";
	if (getaddrinfo(NULL, to->port, &hints, &list))
		return "has no port that is known";
	freeaddrinfo(list);
	return NULL;
}

static int parse_to(struct run_options *o, const char *given)
{
	struct sockets_name *to = &o->to[o->to_count];
	/* Splits a copy, so that ps(1) still shows the argument. */
	char *copy = strdup(given);
	const char *wrong;

	if (o->to_count == SOCKETS_PEERS) {
		log_line("--to %s: at most %d collectors", given, SOCKETS_PEERS);
		return -EINVAL;
	}
	if (!copy || strlen(copy) >= TO_LEN_MAX || options_address(copy, &to->host, &to->port) ||
	    !*to->host) {
		log_line("--to %s: must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given);
		return -EINVAL;
	}
	wrong = to_wrong(to);
	if (wrong) {
		log_line("--to %s: %s; must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given,
			 wrong);
		return -EINVAL;
	}
	o->to_count++;
	return 0;
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

static int parse_option(struct run_options *o, int id)
{
	switch (id) {
	case OPT_TO:
		return parse_to(o, optarg);
	case OPT_KEY:
		o->key_file = optarg;
		return 0;
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

/* Checks combinations of options. */
static int check(const struct run_options *o)
{
	const char *wrong = NULL;

	if (!o->capture.count == !o->file)
		wrong = "give either -i IF or -r FILE";
	else if (!o->to_count)
		wrong = "--to HOST:PORT is missing: where is the collector?" TO_CAPTURE_HERE;
	else if (!o->key_file)
		wrong = "--key FILE is missing; make a key with 'saluki genkey'";
	else if (o->one_way && o->to_count > 1)
		wrong = "--one-way goes with one --to: nobody tells that another is to be tried";
	else if (o->one_way && o->allowed)
		wrong = "--allow-control: with --one-way no order can come";
	else if (o->one_way && o->collector_keys)
		wrong = "--collector-keys: with --one-way no key can come";
	else if (o->one_way && o->spool)
		wrong = "--spool: with --one-way nobody tells what was not delivered";
	if (wrong)
		log_line("run: %s", wrong);
	return wrong ? -EINVAL : 0;
}

int options_parse(struct run_options *o, int argc, char **argv)
{
	int id;

	sensor_options_init(o);
	while ((id = options_next_foreign(run_defs, run_habits, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (!options_log_level(id, &o->log_level) && parse_option(o, id))
			return EXIT_USAGE;
	}
	if (capture_expression(&o->capture, argc, argv) || check(o) ||
	    sensor_options_finish(o, "run"))
		return EXIT_USAGE;
	return sensor_options_prepare(o, "run");
}
