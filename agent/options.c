// SPDX-License-Identifier: GPL-2.0
/* The command line of `saluki run`: one table, and what each option's value must be. */
#include "options.h"

#include <saluki/options.h>
#include <saluki/privsep.h>
#include <saluki/record.h>

#include "commands.h"
#include "compress.h"
#include "wire/combo.h"

enum {
	OPT_TO = 256,
	OPT_KEY,
	OPT_KEEP,
	OPT_SOURCE,
	OPT_RING,
	OPT_CONSUME,
	OPT_PACE,
	OPT_COMBO_SIZE,
	OPT_COMBO_AGE,
	OPT_COMPRESS,
	OPT_USER,
};

#define RING_SIZE_DEFAULT (4096 * 1024)
#define MAPPED_SIZE_MAX (256 * 1024 * 1024) /* what the verifier takes as an offset */

const struct option_def run_defs[] = {
	{ 'i', "interface", "IF", "capture on this interface" },
	{ 'r', "read", "FILE", "read a pcap or pcapng file instead; - is standard input" },
	{ OPT_PACE, "pace", NULL, "with -r: at the trace's own speed, not as fast as possible" },
	{ OPT_TO, "to", "HOST:PORT", "the collector; [ADDR]:PORT for IPv6" },
	{ OPT_KEY, "key", "FILE",
	  "private key, and on the second line the collector's public key" },
	{ 's', "snaplen", "BYTES", "keep at most this much of a frame (default 192)" },
	{ OPT_KEEP, "keep", "headers|all",
	  "headers: nothing behind the headers of data frames\n"
	  "                               (default on 802.11); all: up to the snaplen" },
	{ OPT_SOURCE, "source", "auto|xdp|tc",
	  "capture hook (default auto: the best that attaches)" },
	{ 'Q', "direction", "in|out|inout", "frames received, sent or both (default in; tc only)" },
	{ OPT_CONSUME, "consume", NULL, "drop frames after capture: for a dedicated capture port" },
	{ OPT_RING, "ring", "bpf|mapped",
	  "kernel ring (default bpf): mapped is faster, and takes\n"
	  "                               --ring-size for each CPU" },
	{ 'B', "ring-size", "KIB", "size of the kernel ring, a power of two (default 4096)" },
	{ OPT_COMBO_SIZE, "combo-size", "BYTES", "close a combo at this size (default 14336)" },
	{ OPT_COMBO_AGE, "combo-age", "MS", "or this long after its first frame (default 1000)" },
	{ OPT_COMPRESS, "compress", "LEVEL|none", "zstd level, -50 to 9 (default 1)" },
	{ OPT_USER, "user", "NAME", "user of the unprivileged process (default nobody)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki run -i IF --to HOST:PORT --key FILE [OPTION]...\n"
	       "       saluki run -r FILE --to HOST:PORT --key FILE [OPTION]...\n\n"
	       "Captures frames, cuts them in the kernel, and exports them, compressed and\n"
	       "encrypted, to a saluki-collector.\n\n");
	options_print(stdout, run_defs);
	printf("\nSIGINT and SIGTERM end the run with nothing lost; SIGUSR1 prints the ledger.\n"
	       "Exit status: 0 all exported, 1 failed, 2 bad usage.\n");
}

/* Sets `*out` to the index of `text` in `words`, a NULL-terminated list. */
static int one_of(const char *flag, const char *text, const char *const *words, int *out)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*out = i;
			return 0;
		}
	}
	log_line("%s %s: no such choice; see 'saluki run --help'", flag, text);
	return -EINVAL;
}

static int parse_to(struct run_options *o, const char *given)
{
	/* Cut in two there, for ps(1) shows what was given. */
	size_t len = snprintf(o->to, sizeof(o->to), "%s", given);

	if (len >= sizeof(o->to) || options_address(o->to, &o->to_host, &o->to_port) ||
	    !*o->to_host) {
		log_line("--to %s: must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given);
		return -EINVAL;
	}
	return 0;
}

static int parse_number(const char *flag, long min, long max, uint32_t *out)
{
	long value;
	int err = options_number(flag, optarg, min, max, &value);

	if (!err)
		*out = value;
	return err;
}

static int parse_ring_size(uint32_t *out)
{
	uint32_t kib;

	if (parse_number("--ring-size", 256, 1024 * 1024, &kib))
		return -EINVAL;
	if (kib & (kib - 1)) {
		log_line("--ring-size %s: must be a power of two", optarg);
		return -EINVAL;
	}
	*out = kib * 1024;
	return 0;
}

static int parse_compress(struct run_options *o)
{
	long level;

	if (!strcmp(optarg, "none")) {
		o->compress = false;
		return 0;
	}
	o->compress = true;
	if (options_number("--compress", optarg, COMPRESS_LEVEL_MIN, COMPRESS_LEVEL_MAX, &level))
		return -EINVAL;
	o->level = level;
	return 0;
}

static int parse_option(struct run_options *o, int id)
{
	static const char *const keeps[] = { "", "headers", "all", NULL };
	static const char *const sources[] = { "auto", "xdp", "tc", NULL };
	static const char *const rings[] = { "bpf", "mapped", NULL };
	static const char *const directions[] = { "in", "out", "inout", NULL };
	int choice = 0, err;

	switch (id) {
	case 'i':
		o->interface = optarg;
		return 0;
	case 'r':
		o->file = optarg;
		return 0;
	case 's':
		return parse_number("--snaplen", SALUKI_SNAPLEN_MIN, SALUKI_SNAPLEN_MAX,
				    &o->snaplen);
	case 'B':
		return parse_ring_size(&o->ring_size);
	case 'Q':
		err = one_of("--direction", optarg, directions, &choice);
		o->direction = choice;
		return err;
	case OPT_TO:
		return parse_to(o, optarg);
	case OPT_KEY:
		o->key_file = optarg;
		return 0;
	case OPT_KEEP:
		err = one_of("--keep", optarg, keeps, &choice);
		o->keep = choice;
		return err;
	case OPT_SOURCE:
		err = one_of("--source", optarg, sources, &choice);
		o->source = choice;
		return err;
	case OPT_RING:
		err = one_of("--ring", optarg, rings, &choice);
		o->ring = choice;
		return err;
	case OPT_CONSUME:
		o->consume = true;
		return 0;
	case OPT_PACE:
		o->pace = true;
		return 0;
	case OPT_COMBO_SIZE:
		return parse_number("--combo-size", COMBO_SIZE_MIN, COMBO_SIZE_MAX, &o->combo_size);
	case OPT_COMBO_AGE:
		return parse_number("--combo-age", 1, 60000, &o->combo_age_ms);
	case OPT_COMPRESS:
		return parse_compress(o);
	case OPT_USER:
		o->user = optarg;
		return 0;
	default:
		return -EINVAL; /* getopt_long has said what is wrong */
	}
}

/* What one option alone cannot tell. */
static int check(const struct run_options *o, int argc, char **argv)
{
	const char *wrong = NULL;

	if (optind < argc) {
		log_line("run: %s: filter expressions are not supported yet", argv[optind]);
		return -EINVAL;
	}
	if (!o->interface == !o->file)
		wrong = "give either -i IF or -r FILE";
	else if (!o->to_host)
		wrong = "--to HOST:PORT is missing: where is the collector?";
	else if (!o->key_file)
		wrong = "--key FILE is missing; make a key with 'saluki genkey'";
	else if (o->pace && !o->file)
		wrong = "--pace goes with -r";
	else if (o->file &&
		 (o->consume || o->source != SOURCE_AUTO || o->direction != DIRECTION_IN ||
		  o->ring != RING_BPF || o->ring_size != RING_SIZE_DEFAULT))
		wrong = "--consume, --source, -Q, --ring and -B go with -i";
	else if (o->ring == RING_MAPPED && o->ring_size > MAPPED_SIZE_MAX)
		wrong = "--ring mapped takes a -B of at most 262144";
	else if (o->source == SOURCE_XDP && o->direction != DIRECTION_IN)
		wrong = "--source xdp sees received frames only; use --source tc for -Q out";
	if (wrong)
		log_line("run: %s", wrong);
	return wrong ? -EINVAL : 0;
}

int options_parse(struct run_options *o, int argc, char **argv)
{
	int id;

	*o = (struct run_options){
		.user = PRIVSEP_USER_DEFAULT,
		.snaplen = SALUKI_SNAPLEN_DEFAULT,
		.ring_size = RING_SIZE_DEFAULT,
		.combo_size = COMBO_SIZE_DEFAULT,
		.combo_age_ms = 1000,
		.compress = true,
		.level = 1,
	};
	while ((id = options_next(run_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	return check(o, argc, argv) ? EXIT_USAGE : 0;
}
