// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-collector check: see status.h. In: the board. Out: one line, and an exit status as the
 * Monitoring Plugins Development Guidelines have it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "board/why.h"
#include "common/log.h"
#include "print.h"
#include "reach.h"
#include "status.h"

#define ULL(x) ((unsigned long long)(x))
#define NAMES_MAX 3 /* named in the line, of each kind */
#define LOSS_DEFAULT 1
#define STOPPED_US 60000000 /* so long may saluki-kafka stand still */

enum { OPT_BOARD = 256, OPT_LOSS };
enum verdict { OK, WARNING, CRITICAL, UNKNOWN };

const struct option_def check_defs[] = {
	REACH_OPTION(OPT_BOARD),
	{ OPT_LOSS, "loss", "PERCENT",
	  "warn if a sensor has lost more of the frames it saw\n"
	  "(default 1)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-collector check [OPTION]... [SENSOR|GROUP]...\n\n"
	       "Checks the running collector's sensors for a monitoring system: prints one line.\n"
	       "Critical are: a sensor that is silent or was never heard, an interface that is "
	       "not\n"
	       "up, a key that two machines use, frames that wait for disk space, a ledger that\n"
	       "does not balance, and no progress with Kafka for 60 s. Lost frames, a radio that\n"
	       "hears nothing, frames that wait for saluki-kafka, and a sensor that has ended are\n"
	       "a warning. A collector that has just begun awaits its sensors for the time of\n"
	       "--silent-after.\n\n");
	options_print(stdout, check_defs);
	printf("\nExit status: 0 OK, 1 warning, 2 critical, 3 unknown or bad usage.\n");
}

/* ---- findings -------------------------------------------------------------------------------- */

/* Sensors with the same trouble. */
struct finding {
	const char *words; /* after the names */
	enum verdict verdict;
	unsigned int count;
	const char *names[NAMES_MAX];
};

enum { UNBALANCED, SILENT, NEVER, HELD, SHARED, LINK, DEAF, LOST, ENDED, AWAITED, FINDINGS };

struct findings {
	struct finding of[FINDINGS];
	struct board_sums sums;
};

static void found(struct findings *f, int which, const struct board_sensor *s)
{
	struct finding *x = &f->of[which];

	if (x->count < NAMES_MAX)
		x->names[x->count] = s->name;
	x->count++;
}

static void look(struct findings *f, const struct board_state *b, uint32_t i, long loss_percent)
{
	const struct board_sensor *s = &b->sensors[i];
	enum board_trouble links = board_link_trouble(b, i);
	uint64_t lost = board_lost(s);

	board_sum(&f->sums, s);
	if (s->balance)
		found(f, UNBALANCED, s);
	if (!s->listed)
		return;
	if (s->presence == BOARD_SILENT)
		found(f, SILENT, s);
	else if (s->presence == BOARD_NEVER)
		found(f,
		      board_just_begun(&b->collector) ? AWAITED
		      : s->heard_us		      ? SILENT
						      : NEVER,
		      s);
	else if (s->presence == BOARD_ENDED)
		found(f, ENDED, s);
	else if (links == BOARD_LINK_DOWN)
		found(f, LINK, s);
	else if (links == BOARD_DEAF)
		found(f, DEAF, s);
	if (s->held)
		found(f, HELD, s);
	if (board_shares_key(b, s))
		found(f, SHARED, s);
	if (lost > s->totals.seen / 100.0 * loss_percent)
		found(f, LOST, s);
}

/* ---- the line -------------------------------------------------------------------------------- */

static void finding_print(const struct finding *x, const char *before)
{
	unsigned int shown = x->count < NAMES_MAX ? x->count : NAMES_MAX;

	fputs(before, stdout);
	for (unsigned int i = 0; i < shown; i++)
		printf("%s%s", i ? ", " : "", x->names[i]);
	if (x->count > shown)
		printf(" and %u more", x->count - shown);
	printf(" %s", x->words);
}

/* A '|' would begin the counters. */
static void text_print(const char *text)
{
	for (; *text; text++)
		putchar(*text == '|' ? '/' : *text);
}

static bool is_stopped(const struct board_collector *c, const struct board_kafka *k)
{
	return board_stopped_us(c, k) > STOPPED_US;
}

static void stopped_print(const struct board_collector *c, const struct board_kafka *k,
			  const char *what, const char *before)
{
	const char *why = board_kafka_why(k);

	printf("%s%s for %llu s: ", before, what, ULL(board_stopped_us(c, k) / 1000000));
	text_print(*why ? why : "messages wait");
}

static enum verdict say(const struct findings *f, const struct board_collector *c)
{
	const struct board_kafka *sink = &c->sink.kafka, *source = &c->source.kafka;
	const struct board_sums *x = &f->sums;
	static const char *const words[] = { "OK", "WARNING", "CRITICAL" };
	bool critical = c->holding || is_stopped(c, sink) || is_stopped(c, source);
	enum verdict worst = critical ? CRITICAL : OK;
	const char *before = ": ";

	for (int i = 0; i < FINDINGS; i++)
		if (f->of[i].count && f->of[i].verdict > worst)
			worst = f->of[i].verdict;
	printf("SALUKI %s", words[worst]);
	if (worst == OK) {
		printf(": %u of %u sensors up", x->up, x->listed);
		before = "; ";
	}
	if (c->holding) {
		printf("%sthe collector waits for disk space", before);
		before = "; ";
	}
	if (is_stopped(c, sink)) {
		stopped_print(c, sink, "Kafka has taken no message", before);
		before = "; ";
	}
	if (is_stopped(c, source)) {
		stopped_print(c, source, "no message has come from Kafka", before);
		before = "; ";
	}
	for (int i = 0; i < FINDINGS; i++)
		if (f->of[i].count) {
			finding_print(&f->of[i], before);
			before = "; ";
		}
	printf(" | up=%u;;;0;%u seen=%lluc written=%lluc lost=%lluc", x->up, x->listed,
	       ULL(x->seen), ULL(x->written), ULL(x->lost));
	if (sink->used)
		printf(" kafka_waiting=%llu", ULL(c->sink.waiting));
	if (source->used)
		printf(" kafka_lag=%llu", ULL(c->source.lag));
	putchar('\n');
	return worst;
}

static int run(const char *path, const struct status_names *n, long loss_percent)
{
	struct findings f = { .of = { [UNBALANCED] = { "unbalanced", CRITICAL },
				      [SILENT] = { "silent", CRITICAL },
				      [NEVER] = { "never heard", CRITICAL },
				      [HELD] = { "waiting for disk space", CRITICAL },
				      [SHARED] = { "sharing a key with another machine", CRITICAL },
				      [LINK] = { "with an interface that is not up", CRITICAL },
				      [DEAF] = { "with a radio that hears nothing", WARNING },
				      [LOST] = { "losing frames", WARNING },
				      [ENDED] = { "ended", WARNING },
				      [AWAITED] = { "awaited since the collector's start", OK } } };
	struct board_states s;
	char why[BOARD_WHY_MAX];
	int err = board_states_open(&s, path);

	if (err) {
		printf("SALUKI UNKNOWN: %s\n", board_why(why, path, err));
		return UNKNOWN;
	}
	if (reach_names(&s, n)) {
		board_states_free(&s);
		return UNKNOWN;
	}
	if (s.now.collector.sink.kafka.used) /* a moment's wait is normal then */
		f.of[HELD] =
			(struct finding){ .words = "waiting for saluki-kafka", .verdict = WARNING };
	for (uint32_t i = 0; i < s.now.collector.sensors; i++)
		if (status_is_named(n, &s.now.sensors[i]))
			look(&f, &s.now, i, loss_percent);
	err = say(&f, &s.now.collector);
	board_states_free(&s);
	return fflush(stdout) ? UNKNOWN : err;
}

int check_main(int argc, char **argv)
{
	const char *path = BOARD_PATH;
	long loss_percent = LOSS_DEFAULT;
	int id;

	while ((id = options_next(check_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (id == OPT_BOARD)
			path = optarg;
		else if (id != OPT_LOSS || options_number("--loss", optarg, 0, 100, &loss_percent))
			return UNKNOWN;
	}
	return run(path, &(struct status_names){ argv + optind, argc - optind }, loss_percent);
}
