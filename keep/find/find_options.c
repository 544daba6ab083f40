// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-keep find. */
#include "find_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive/series_name.h"
#include "common/directory.h"
#include "common/log.h"
#include "moment.h"

#define FRAMES_MAX 1000000000

enum { OPT_FROM = 256, OPT_TO, OPT_SENSOR, OPT_GROUP, OPT_MAC, OPT_PSEUDONYMS, OPT_COLUMNS };

const struct option_def find_defs[] = {
	{ OPT_FROM, "from", "TIME",
	  "frames from this time on: 2026-11-24, '2026-11-24 10:30',\n"
	  "2026-11-24T10:30:00Z, @SECONDS, or 36h: so long ago" },
	{ OPT_TO, "to", "TIME", "and before this time" },
	{ OPT_SENSOR, "sensor", "NAME", "frames of this sensor only; several with commas" },
	{ OPT_GROUP, "group", "NAME", "frames of this group's sensors; several with commas" },
	{ OPT_MAC, "mac", "ADDRESS",
	  "frames with this hardware address, as receiver,\n"
	  "transmitter, source, destination or BSSID; several times:\n"
	  "with one of these" },
	{ 'w', "write", "FILE", "write the frames as pcapng; - is standard output" },
	{ OPT_PSEUDONYMS, "pseudonyms", "KEYFILE",
	  "write pseudonyms in place of hardware addresses and SSIDs;\n"
	  "the key is that of 'saluki genpsk'" },
	{ OPT_COLUMNS, "columns", "DIR", "with -w FILE.pcapng: also write its tables, as Parquet" },
	{ 'c', "frames", "COUNT", "end after this many frames" },
	{ 'q', "quiet", NULL, "no progress" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-keep find [OPTION]... DIR [EXPRESSION]\n\n"
	       "Searches the capture files in DIR: compressed ones by their indexes, and also the\n"
	       "file that is being written. EXPRESSION is that of pcap-filter(7). Prints how many\n"
	       "frames each sensor has, or with -w writes them: 'saluki-keep find DIR --mac\n"
	       "00:11:22:33:44:55 -w - | wireshark -k -i -'.\n\n");
	options_print(stdout, find_defs);
	printf("\nExit status: 0 finished; 1 failed, or a file was damaged; 2 bad usage.\n");
}

static int parse_moment(const char *flag, int64_t *ns)
{
	if (!moment_parse(optarg, ns))
		return 0;
	log_line("%s %s: must be a time such as " MOMENT_FORMS, flag, optarg);
	return -EINVAL;
}

static int parse_names(const char *flag, const char **list, unsigned int *count)
{
	for (char *name = strtok(optarg, ","); name; name = strtok(NULL, ",")) {
		if (*count == QUERY_WORDS_MAX) {
			log_line("%s: at most %d names", flag, QUERY_WORDS_MAX);
			return -E2BIG;
		}
		list[(*count)++] = name;
	}
	if (*count)
		return 0;
	log_line("%s: needs a name", flag);
	return -EINVAL;
}

static int parse_mac(struct query *q)
{
	int err = query_address(q, optarg);

	if (err == -E2BIG)
		log_line("--mac: at most %d addresses", QUERY_WORDS_MAX);
	else if (err)
		log_line("--mac %s: must be an address such as 00:11:22:aa:bb:cc", optarg);
	return err;
}

static int parse_most(struct find_options *o)
{
	long n;

	if (options_number("--frames", optarg, 1, FRAMES_MAX, &n))
		return -EINVAL;
	o->most = n;
	return 0;
}

static int parse_option(struct find_options *o, int id)
{
	struct query *q = &o->query;

	switch (id) {
	case OPT_FROM:
		return parse_moment("--from", &q->from_ns);
	case OPT_TO:
		return parse_moment("--to", &q->to_ns);
	case OPT_SENSOR:
		return parse_names("--sensor", q->sensors, &q->sensor_count);
	case OPT_GROUP:
		return parse_names("--group", q->groups, &q->group_count);
	case OPT_MAC:
		return parse_mac(q);
	case 'w':
		o->write = optarg;
		return 0;
	case OPT_PSEUDONYMS:
		o->pseudonyms = optarg;
		return 0;
	case OPT_COLUMNS:
		o->columns = optarg;
		return 0;
	case 'c':
		return parse_most(o);
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->log_level) ? 0 : -EINVAL;
	}
}

/* The words with a blank between them, as tcpdump joins them. */
static int parse_expression(struct query *q, int count, char **words)
{
	char why[EXPRESSION_WHY_MAX], *text;
	size_t len = 1;
	int err;

	for (int i = 0; i < count; i++)
		len += strlen(words[i]) + 1;
	text = calloc(1, len);
	if (!text)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		strcat(strcat(text, i ? " " : ""), words[i]);
	err = expression_set(&q->expression, text, why);
	if (err)
		log_line("%s: %s", text, why);
	free(text);
	return err;
}

static int check(struct find_options *o, int argc, char **argv)
{
	if (optind == argc) {
		log_line("give the folder of the capture files: saluki-keep find DIR");
		return -EINVAL;
	}
	o->folder = argv[optind];
	if (o->query.from_ns >= o->query.to_ns) {
		log_line("--from is not before --to");
		return -EINVAL;
	}
	if (o->pseudonyms && !o->write) {
		log_line("--pseudonyms needs -w FILE: it changes what is written");
		return -EINVAL;
	}
	if (o->columns && (!o->write || !directory_ending(o->write, ARCHIVE_CAPTURE))) {
		log_line("--columns needs -w FILE" ARCHIVE_CAPTURE ", whose tables it writes");
		return -EINVAL;
	}
	if (o->write && options_check_output(o->write, "saluki-keep find ... -w - | tshark -r -"))
		return -EINVAL;
	return parse_expression(&o->query, argc - optind - 1, argv + optind + 1);
}

int find_options_parse(struct find_options *o, int argc, char **argv)
{
	int id;

	*o = (struct find_options){ .query = { .from_ns = INT64_MIN, .to_ns = INT64_MAX } };
	while ((id = options_next(find_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	return check(o, argc, argv) ? EXIT_USAGE : 0;
}

void find_options_free(struct find_options *o)
{
	if (o->query.expression.text)
		expression_free(&o->query.expression);
}
