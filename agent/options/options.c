// SPDX-License-Identifier: GPL-2.0
/* The command line of `saluki run`: a table of options, and checks of their values. */
#include "options.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"
#include "common/privsep.h"
#include "subcommands.h"
#include "agent/capture/queue.h"
#include "agent/export/level.h"
#include "parse_radio.h"
#include "agent/export/session.h"
#include "agent/filter/filter.h"
#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/order.h"

#define DELAY_MS 200 /* longest delay in the kernel */
#define TO_LEN_MAX 280

#define STORE_BYTES_MIN (64 * 1024)
#define STORE_BYTES_MAX (1024ULL * 1024 * 1024)
/* A build without libbpf is for small machines (Makefile). */
#ifdef WITHOUT_BPF
#define STORE_BYTES_DEFAULT (256 * 1024)
#define STORE_DEFAULT_TEXT "256K"
#else
#define STORE_BYTES_DEFAULT (4096 * 1024)
#define STORE_DEFAULT_TEXT "4M"
#endif

#define SPOOL_BYTES_MIN (1024 * 1024)
#define SPOOL_BYTES_MAX (1ULL << 40)
#define SPOOL_BYTES_DEFAULT (64 * 1024 * 1024)

enum {
	OPT_TO = OPT_OWN,
	OPT_KEY,
	OPT_PACE,
	OPT_COMBO_SIZE,
	OPT_COMBO_AGE,
	OPT_PIPELINES,
	OPT_QUEUE,
	OPT_COMPRESS,
	OPT_USER,
	OPT_MONITOR,
	OPT_DEAF_AFTER,
	OPT_PAD,
	OPT_ONE_WAY,
	OPT_RENEW,
	OPT_STORE_BYTES,
	OPT_ALLOW_CONTROL,
	OPT_SPOOL,
	OPT_SPOOL_BYTES,
};

const struct option_def run_defs[] = {
	{ 'i', "interface", "IF", "capture on this interface; may be given several times" },
	{ 'r', "read", "FILE", "read a pcap or pcapng file instead; - is standard input" },
	RADIO_OPTION_DEFS,
	{ OPT_DEAF_AFTER, "deaf-after", "SECONDS",
	  "log a line if a radio hears no frame for this long\n"
	  "(default 60; 0: never)" },
	{ OPT_MONITOR, "monitor", NULL,
	  "make a temporary monitor interface for the -i before it;\n"
	  "before all -i: for each of them" },
	{ OPT_PACE, "pace", NULL, "with -r: keep the intervals between frames" },
	{ OPT_TO, "to", "HOST:PORT",
	  "the collector; [ADDR]:PORT for IPv6; up to three more to\n"
	  "try if it does not answer" },
	{ OPT_KEY, "key", "FILE", "the sensor's private key, then the collector's public key" },
	CAPTURE_OPTION_DEFS,
	{ OPT_COMBO_SIZE, "combo-size", "BYTES", "maximum size of a combo (default 14336)" },
	{ OPT_COMBO_AGE, "combo-age", "MS", "close a combo at this age (default 1000)" },
	{ OPT_PIPELINES, "pipelines", "N", "threads that fill combos: 1 to 16" },
	{ OPT_QUEUE, "queue", "COMBOS", "queue before the export: 1, 2, 4 or 8 (default 8)" },
	{ OPT_COMPRESS, "compress", "auto|none|N",
	  "zstd level, -50 to 9; auto: 1, lower while the CPU is the\n"
	  "limit, higher while the network is (default auto)" },
	{ OPT_PAD, "pad", NULL, "pad all datagrams to 1232 bytes" },
	{ OPT_ONE_WAY, "one-way", NULL,
	  "work without replies: no retransmission; a thief of the\n"
	  "collector's key can decrypt recordings" },
	{ OPT_RENEW, "renew", "SECONDS", "age at which session keys are renewed (default 120)" },
	{ OPT_STORE_BYTES, "store-bytes", "BYTES",
	  "memory for frames that the collector has not written;\n"
	  "suffix K or M (default " STORE_DEFAULT_TEXT ")" },
	{ OPT_SPOOL, "spool", "FILE", "keep undelivered frames here, also for the next run" },
	{ OPT_SPOOL_BYTES, "spool-bytes", "BYTES",
	  "maximum size of the spool; suffix K, M or G (default 64M)" },
	{ OPT_ALLOW_CONTROL, "allow-control", "KIND,...",
	  "accept these orders of the collector: channels, filter,\n"
	  "snaplen, separated by commas (none if not given)" },
	{ OPT_USER, "user", "NAME", "user of the unprivileged process (default nobody)" },
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

/* Reads "65536", or "64K" if `units` begins with K. Returns whether it is in range. */
static bool take_size(uint64_t *bytes, const char *units, uint64_t min, uint64_t max)
{
	char *end, first = *optarg;
	unsigned long long count = strtoull(optarg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (unit - units + 1) : 0;

	*bytes = count << shift;
	return first >= '0' && first <= '9' && !end[unit != NULL] && count <= max >> shift &&
	       *bytes >= min;
}

static int parse_store_bytes(struct run_options *o)
{
	uint64_t bytes;

	if (!take_size(&bytes, "KM", STORE_BYTES_MIN, STORE_BYTES_MAX)) {
		log_line("--store-bytes %s: must be from %d to %llu, K or M behind it", optarg,
			 STORE_BYTES_MIN, STORE_BYTES_MAX);
		return -EINVAL;
	}
	o->store_bytes = bytes;
	return 0;
}

static int parse_spool_bytes(struct run_options *o)
{
	if (take_size(&o->spool_bytes, "KMG", SPOOL_BYTES_MIN, SPOOL_BYTES_MAX))
		return 0;
	log_line("--spool-bytes %s: must be from 1M to 1024G; K, M or G may stand behind it",
		 optarg);
	return -EINVAL;
}

static int parse_compress(struct run_options *o)
{
	long level;
	char *end;

	if (!strcmp(optarg, "none") || !strcmp(optarg, "auto")) {
		o->level = *optarg == 'n' ? COMPRESS_NONE : LEVEL_AUTO;
		return 0;
	}
	level = strtol(optarg, &end, 10);
	if (end == optarg || *end || level < COMPRESS_LEVEL_MIN || level > COMPRESS_LEVEL_MAX) {
		log_line("--compress %s: must be auto, none or a whole number from %d to %d",
			 optarg, COMPRESS_LEVEL_MIN, COMPRESS_LEVEL_MAX);
		return -EINVAL;
	}
	o->level = level;
	return 0;
}

/* For the interface before it, or for all that follow. */
static void take_monitor(struct capture_options *o)
{
	o->given |= GIVEN_MONITOR;
	if (o->count)
		o->monitors[o->count - 1] = true;
	else
		o->monitor = true;
}

/* "channels", "filter", "snaplen", or several. */
static int parse_allow_control(struct run_options *o)
{
	const char *at = optarg;

	for (;;) {
		size_t len = strcspn(at, ",");
		enum order_kind kind = 0;

		while (kind < WIRE_ORDER_KINDS && (strlen(order_kind_name(kind)) != len ||
						   strncmp(order_kind_name(kind), at, len)))
			kind++;
		if (kind == WIRE_ORDER_KINDS) {
			log_line("--allow-control %s: must be channels, filter or snaplen, or "
				 "several with commas",
				 optarg);
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
	int err;

	switch (id) {
	case 'r':
		o->file = optarg;
		return 0;
	case OPT_TO:
		return parse_to(o, optarg);
	case OPT_KEY:
		o->key_file = optarg;
		return 0;
	case OPT_PACE:
		o->pace = true;
		return 0;
	case OPT_COMBO_SIZE:
		return parse_number("--combo-size", COMBO_SIZE_MIN, COMBO_SIZE_MAX, &o->combo_size);
	case OPT_COMBO_AGE:
		return parse_number("--combo-age", 1, 60000, &o->combo_age_ms);
	case OPT_QUEUE:
		return parse_power_of_two("--queue", 1, QUEUE_LEN, &o->queue);
	case OPT_PIPELINES:
		return parse_number("--pipelines", 1, PIPELINES_MAX, &o->pipelines);
	case OPT_COMPRESS:
		return parse_compress(o);
	case OPT_MONITOR:
		take_monitor(&o->capture);
		return 0;
	case OPT_DEAF_AFTER:
		return parse_number("--deaf-after", 0, 86400, &o->capture.deaf_after_s);
	case OPT_PAD:
		o->pad = true;
		return 0;
	case OPT_ONE_WAY:
		o->one_way = true;
		return 0;
	case OPT_RENEW:
		return parse_number("--renew", 5, 86400, &o->renew_s);
	case OPT_STORE_BYTES:
		return parse_store_bytes(o);
	case OPT_SPOOL:
		o->spool = optarg;
		return 0;
	case OPT_SPOOL_BYTES:
		return parse_spool_bytes(o);
	case OPT_ALLOW_CONTROL:
		return parse_allow_control(o);
	case OPT_USER:
		o->user = optarg;
		return 0;
	default: /* else the error was logged */
		err = radio_option(&o->capture, id);
		return err == -ENOENT ? capture_option(&o->capture, id) : err;
	}
}

/* Checks combinations of options. */
static int check(const struct run_options *o)
{
	const char *wrong = NULL;

	if (!o->capture.count == !o->file)
		wrong = "give either -i IF or -r FILE";
	else if (!o->to_count)
		wrong = "--to HOST:PORT is missing: where is the collector?";
	else if (!o->key_file)
		wrong = "--key FILE is missing; make a key with 'saluki genkey'";
	else if (o->one_way && o->to_count > 1)
		wrong = "--one-way goes with one --to: nobody tells that another is to be tried";
	else if (o->one_way && o->allowed)
		wrong = "--allow-control: with --one-way no order can come";
	else if (o->one_way && o->spool)
		wrong = "--spool: with --one-way nobody tells what was not delivered";
	else if (o->pace && !o->file)
		wrong = "--pace goes with -r";
	else if (o->file && !strcmp(o->file, "-") && isatty(STDIN_FILENO))
		wrong = "-r -: standard input is a terminal; pipe a capture to it: "
			"'tcpdump -w - | saluki run -r - ...'";
	else if (o->file && o->capture.given & GIVEN_FOR_INTERFACE)
		wrong = "--channel, --channels, --monitor, --consume, --source, -Q, --ring and -B "
			"go with -i";
	else
		wrong = capture_options_wrong(&o->capture);
	if (wrong)
		log_line("run: %s", wrong);
	return wrong ? -EINVAL : 0;
}

/* A file's link type is known only when it is read, by a process that opens no files by then. */
static int prepare(struct run_options *o)
{
	char why[FILTER_WHY_LEN];
	int err = filter_prepare(&o->capture.filter, why, sizeof(why));

	if (err)
		log_line("run: %s", why);
	return err ? EXIT_FAILURE : 0;
}

int options_parse(struct run_options *o, int argc, char **argv)
{
	int id;

	*o = (struct run_options){
		.user = PRIVSEP_USER_DEFAULT,
		.combo_size = COMBO_SIZE_DEFAULT,
		.combo_age_ms = 1000,
		.queue = QUEUE_LEN,
		.level = LEVEL_AUTO,
		.renew_s = SESSION_RENEW_NS / 1000000000,
		.store_bytes = STORE_BYTES_DEFAULT,
		.spool_bytes = SPOOL_BYTES_DEFAULT,
	};
	capture_options_init(&o->capture);
	while ((id = options_next(run_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (!options_log_level(id, &o->log_level) && parse_option(o, id))
			return EXIT_USAGE;
	}
	if (capture_expression(&o->capture, argc, argv))
		return EXIT_USAGE;
	if (check(o) || radio_options_check(&o->capture))
		return EXIT_USAGE;
	o->capture.steered = o->allowed & 1u << WIRE_ORDER_CHANNELS;
	/* A combo's age counts from its first frame, so the kernel's delay adds nothing. The age
	 * has room for five delays, and the inaccuracy of the kernel's clock. */
	o->capture.delay_ms = (o->combo_age_ms * 3 + 15) / 16;
	if (o->capture.delay_ms > DELAY_MS)
		o->capture.delay_ms = DELAY_MS;
	return o->file ? prepare(o) : 0;
}
