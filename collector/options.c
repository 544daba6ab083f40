// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-collector. */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/control/control.h"
#include "collector/control/ctl.h"
#include "collector/enrol/enrol.h"
#include "collector/status/status.h"
#include "collector/files/series.h"
#include "common/completion.h"
#include "common/config.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/options.h"
#include "common/privsep.h"
#include "common/rotate_options.h"
#include "common/suggest.h"
#include "common/version.h"
#include "habits.h"
#include "board/board.h"
#include "wire/key_text.h"
#include "wire/live.h"

#define SILENT_MIN_US 3000000
#define SILENT_DEFAULT_NS 15000000000ULL

enum {
	OPT_LISTEN = 256,
	OPT_KEY,
	OPT_SENSORS,
	OPT_SINK,
	OPT_SOURCE,
	OPT_EVENTS,
	OPT_STATS,
	OPT_STATE,
	OPT_KEEP_FREE,
	OPT_CONTROL,
	OPT_LIVE,
	OPT_LIVE_BYTES,
	OPT_BOARD,
	OPT_SILENT,
	OPT_REPORT,
	OPT_USER,
	OPT_CONFIG,
	OPT_KEY_TEXT,
	OPT_COMPLETION,
	OPT_VERSION
};

static const struct option_def defs[] = {
	{ OPT_LISTEN, "listen", "ADDR:PORT",
	  "receive here; :PORT for any address, [ADDR]:PORT for IPv6;\n"
	  "fd:N for an inherited socket to one sensor" },
	{ OPT_KEY, "key", "FILE",
	  "the collector's private key ('saluki genkey'); a second\n"
	  "one: the old key, while sensors learn the first one" },
	{ OPT_SENSORS, "sensors", "FILE", "the sensors, a line NAME ID PUBLIC-KEY for each" },
	{ OPT_SOURCE, "source", "PATH",
	  "take combos from 'saluki-kafka get' by this socket, in place\n"
	  "of --listen, --key and --sensors" },
	{ 'w', "write", "DIR|FILE|-", "write pcapng here; - is standard output" },
	ROTATE_OPTION_DEFS,
	{ OPT_SINK, "sink", "PATH",
	  "instead of -w: socket for 'saluki-kafka put', which carries\n"
	  "combos to Kafka" },
	{ OPT_EVENTS, "events", "DIR", "write modules' events as JSON lines, a file per module" },
	{ OPT_STATS, "stats-file", "FILE", "write the ledger as JSON, once a second" },
	{ OPT_STATE, "state", "FILE", "list of written combos, for the next start" },
	{ OPT_KEEP_FREE, "keep-free", "SIZE|PERCENT",
	  "stop writing while the file system has less free\n"
	  "(1%, at most 1G, if not given); 0: no limit" },
	{ OPT_CONTROL, "control", "PATH",
	  "socket for 'saluki-collector ctl', or none\n"
	  "(default " CONTROL_PATH ")" },
	{ OPT_LIVE, "live", "none|PATH",
	  "socket for viewers, saluki-live\n"
	  "(default " LIVE_PATH "); none: no viewers" },
	{ OPT_LIVE_BYTES, "live-bytes", "BYTES",
	  "memory that holds frames for viewers (default 64M)" },
	{ OPT_BOARD, "board", "none|PATH",
	  "socket for 'saluki-collector status'\n"
	  "(default " BOARD_PATH "); none: no board" },
	{ OPT_SILENT, "silent-after", "TIME",
	  "log that a sensor is silent after this time (default 15s)" },
	{ OPT_REPORT, "report", "FD", "print the ledger at the end to this descriptor" },
	{ OPT_USER, "user", "NAME", "user of the unprivileged process (default nobody)" },
	CONFIG_DEF(OPT_CONFIG),
	{ 'q', "quiet", NULL, "log only warnings and errors; no status line" },
	{ 'v', "verbose", NULL, "log more: each session and renewal of keys" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Only a file with --config has it. */
static const struct option_def secret_defs[] = {
	{ OPT_KEY_TEXT, "key-text", "PRIVATE-KEY", NULL },
	{ 0 },
};

static const struct command_def commands[] = {
	{ "ctl", ctl_main, ctl_defs, "give a sensor an order" },
	{ "status", status_main, status_defs, "print the state of all sensors" },
	{ "top", top_main, top_defs, "show the state of all sensors each second" },
	{ "check", check_main, check_defs, "check all sensors for a monitoring system" },
	{ "add", add_main, add_defs, "add a sensor to the sensors file" },
	{ "enrol", enrol_main, enrol_defs, "make keys and config files for new sensors" },
	{ "remove", remove_main, remove_defs, "remove sensors from the sensors file" },
	{ 0 },
};

const struct command_def *options_command(const char *name)
{
	return options_find_command(commands, name);
}

static void help(void)
{
	printf("Usage: saluki-collector --listen ADDR:PORT --key FILE --sensors FILE -w "
	       "DIR|FILE|-\n"
	       "                        [OPTION]...\n"
	       "       saluki-collector --source PATH -w DIR|FILE|- [OPTION]...\n"
	       "       saluki-collector ctl SENSOR ORDER\n"
	       "       saluki-collector status|top|check [SENSOR|GROUP]...\n"
	       "       saluki-collector add|enrol|remove NAME...\n\n"
	       "Receives frames from saluki sensors and writes them as pcapng. '-w -' feeds\n"
	       "'wireshark -k -i -' live.\n\n");
	options_print(stdout, defs);
	printf("\nSIGINT and SIGTERM finish the files; SIGHUP reads --sensors again and\n"
	       "reopens the files of --events; SIGUSR1 prints the ledger.\n"
	       "Exit status: 0 finished, 1 failed, 2 bad usage.\n");
}

static int parse_key(struct collector_options *o)
{
	if (o->key_count == SETTINGS_KEYS) {
		log_line(
			"a third --key or key-text: at most two: the present key, and the old one");
		return -EINVAL;
	}
	o->key_files[o->key_count++] = optarg;
	return 0;
}

/* The key becomes a pipe, which is read as --key FILE. */
static int parse_key_text(struct collector_options *o)
{
	struct key_text key = { .given = false };
	int fd = key_text_secret(&key, optarg);
	char *path;

	if (fd)
		return fd;
	fd = key_text_open(&key);
	if (fd >= 0 && asprintf(&path, "/dev/fd/%d", fd) < 0)
		fd = -ENOMEM;
	if (fd < 0) {
		log_line("cannot make a pipe: %s", strerror(-fd));
		return fd;
	}
	optarg = path;
	return parse_key(o);
}

static int parse_report(struct collector_options *o)
{
	long fd;

	if (options_number("--report", optarg, STDERR_FILENO, 1023, &fd))
		return -EINVAL;
	if (fcntl(fd, F_GETFD) < 0) {
		log_line("--report %s: %s", optarg, strerror(errno));
		return -EINVAL;
	}
	o->report = fd;
	return 0;
}

static int parse_listen(struct collector_options *o, char *text)
{
	long fd;

	if (!strncmp(text, "fd:", 3)) {
		if (options_number("--listen fd:N:", text + 3, STDERR_FILENO + 1, 1023, &fd))
			return -EINVAL;
		o->inherited = fd;
		return 0;
	}
	if (options_address(text, &o->host, &o->port)) {
		log_line("--listen %s: must be ADDRESS:PORT, [ADDRESS]:PORT for IPv6, or :PORT",
			 text);
		return -EINVAL;
	}
	if (!*o->host)
		o->host = NULL;
	return 0;
}

static int parse_live_bytes(uint32_t *bytes, const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;

	end += shift ? 1 : 0;
	n = n > LIVE_BYTES_MAX ? 0 : n << shift;
	if (*text < '0' || *text > '9' || *end || n < LIVE_BYTES_MIN || n > LIVE_BYTES_MAX) {
		log_line("--live-bytes %s: must be from 4M to 1G; K, M or G may stand behind it",
			 text);
		return -EINVAL;
	}
	*bytes = n & ~4095u;
	return 0;
}

/* Sensors send their totals each second, and need up to three for a lost connection. */
static int parse_silent(uint64_t *ns, const char *text)
{
	uint64_t us;

	if (duration_us(text, strlen(text), DURATION_DAY_US, &us) || us < SILENT_MIN_US) {
		log_line("--silent-after %s: must be a time from 3s to 24h, a number with a "
			 "unit, " DURATION_UNITS,
			 text);
		return -EINVAL;
	}
	*ns = us * 1000;
	return 0;
}

static int parse_option(struct collector_options *o, int id)
{
	switch (id) {
	case OPT_LISTEN:
		return parse_listen(o, optarg);
	case OPT_KEY:
		return parse_key(o);
	case OPT_KEY_TEXT:
		return parse_key_text(o);
	case OPT_SENSORS:
		o->sensors_file = optarg;
		return 0;
	case OPT_SOURCE:
		o->source = optarg;
		return 0;
	case 'w':
		o->write = optarg;
		return 0;
	case OPT_SINK:
		o->sink = optarg;
		return 0;
	case 'C':
		return rotate_size(optarg, &o->rotate_bytes);
	case 'G':
		return rotate_time(optarg, &o->rotate_s);
	case 'W':
		return rotate_count(optarg, &o->rotate_count);
	case OPT_EVENTS:
		o->events = optarg;
		return 0;
	case OPT_STATS:
		o->stats_file = optarg;
		return 0;
	case OPT_STATE:
		o->state = optarg;
		return 0;
	case OPT_KEEP_FREE:
		return space_parse("--keep-free", optarg, &o->keep_free);
	case OPT_CONTROL:
		o->control = optarg;
		return 0;
	case OPT_LIVE:
		o->live = optarg;
		return 0;
	case OPT_LIVE_BYTES:
		return parse_live_bytes(&o->live_bytes, optarg);
	case OPT_BOARD:
		o->board = optarg;
		return 0;
	case OPT_SILENT:
		return parse_silent(&o->silent_ns, optarg);
	case OPT_REPORT:
		return parse_report(o);
	case OPT_USER:
		o->user = optarg;
		return 0;
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->log_level) ? 0 : -EINVAL;
	}
}

/* The conversions of strftime(3) in -w. */
static int check_series(const struct collector_options *o)
{
	struct stat st;
	struct series s = series_of(o, stat(o->write, &st) == 0 && S_ISDIR(st.st_mode));
	const char *wrong = series_wrong(&s);

	if (wrong)
		log_line("-w %s: %s", o->write, wrong);
	return wrong ? -EINVAL : 0;
}

/* Returns the mistake, or NULL. Files and viewers are at the other end: what fills this machine's
 * disk must not stop the way to the brokers. */
static const char *sink_wrong(const struct collector_options *o)
{
	bool shown = o->live && strcmp(o->live, "none") != 0;

	if (o->write || o->rotate_bytes || o->rotate_s || o->rotate_count || o->events || shown)
		return "--sink goes without -w, -C, -G, -W, --events and --live: 'saluki-collector "
		       "--source PATH' has these, and takes combos from Kafka";
	if (o->inherited >= 0)
		return "--sink takes a collector of its own: --listen ADDR:PORT";
	return NULL;
}

static const char *network_wrong(const struct collector_options *o)
{
	if (!o->port && o->inherited < 0)
		return "--listen ADDR:PORT is missing";
	if (!o->key_count)
		return "--key FILE is missing; make a key with 'saluki genkey'";
	if (!o->sensors_file)
		return "--sensors FILE is missing: a line for each sensor, NAME ID PUBLIC-KEY";
	return NULL;
}

/* Combos of the log are open, and their sensors cannot be reached. */
static const char *source_wrong(const struct collector_options *o)
{
	if (o->port || o->inherited >= 0)
		return "--source: takes no --listen: the combos come from saluki-kafka";
	if (o->key_count)
		return "--source: takes no --key: combos in the log are not sealed";
	if (o->sensors_file)
		return "--source: takes no --sensors: the log has the sensors' records";
	if (o->control && strcmp(o->control, "none"))
		return "--source: takes no --control: orders go to the collector that the sensors "
		       "use";
	return NULL;
}

static int check(const struct collector_options *o, int argc, char **argv)
{
	const char *wrong = NULL;
	struct suggest s;

	if (optind < argc) {
		suggest_begin(&s, argv[optind], strlen(argv[optind]));
		for (const struct command_def *c = commands; c->name; c++)
			suggest_offer(&s, c->name);
		if (s.word && optind == 1)
			options_no_command(commands, "saluki-collector", argv[1]);
		else
			log_line("%s: takes no arguments; see 'saluki-collector --help'",
				 argv[optind]);
		return -EINVAL;
	}
	if (o->sink && o->source)
		wrong = "--sink and --source: a collector has one of them";
	else
		wrong = o->source ? source_wrong(o) : network_wrong(o);
	if (!wrong && o->sink)
		wrong = sink_wrong(o);
	else if (!wrong && !o->write)
		wrong = "-w DIR|FILE|- is missing: where shall the frames go?";
	if (!wrong && !o->sink)
		wrong = rotate_wrong(o->write, o->rotate_bytes || o->rotate_s, o->rotate_count);
	if (wrong)
		log_line("%s", wrong);
	if (!wrong && o->sink)
		return 0;
	return wrong || check_series(o)
		       ? -EINVAL
		       : options_check_output(o->write, "saluki-collector ... -w - | tshark -r -");
}

int options_parse(struct collector_options *o, int argc, char **argv)
{
	struct config_options in = { defs, secret_defs, collector_habits, { 0 } };
	int id;

	*o = (struct collector_options){ .inherited = -1,
					 .user = PRIVSEP_USER_DEFAULT,
					 .live_bytes = LIVE_BYTES_DEFAULT,
					 .silent_ns = SILENT_DEFAULT_NS,
					 .keep_free = KEEP_FREE_DEFAULT };
	if (config_begin(&in, argc, argv))
		return EXIT_USAGE;
	while ((id = config_option(&in, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-collector", defs, commands, true, NULL,
						NULL)
				       ? 1
				       : -1;
		if (id == OPT_VERSION) {
			printf("saluki-collector %s\n", SALUKI_VERSION);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	if (check(o, argc, argv))
		return EXIT_USAGE;
	if (o->source)
		o->control = "none";
	if (o->sink) /* the standard socket is for a collector that shows frames */
		o->live = "none";
	return 0;
}
