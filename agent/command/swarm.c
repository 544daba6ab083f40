// SPDX-License-Identifier: GPL-2.0
/*
 * saluki swarm: many simulated sensors against one collector, to test it and to see how many it can
 * serve. Keys of a seed, real frames, real seals, in one thread: a loop over what is due, what may
 * be sent and what has come. The sensors share a few sockets, as a process has not many.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>
#include <saluki/options.h>

#include "agent/commands.h"
#include "swarm.h"

#define SOCKETS 128
#define BATCH 64
#define SENSORS_MAX 65535 /* ids have 16 bits */
#define SECOND 1000000000ULL
#define TICK_NS 5000000ULL
#define BURST 16  /* datagrams of a sensor before another one's turn */
#define ROUND 512 /* datagrams before it is looked what has come */
#define RCVBUF (4 * 1024 * 1024)

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
	OPT_PAD,
	OPT_JSON,
};

const struct option_def swarm_defs[] = {
	{ OPT_COLLECTOR_KEY, "collector-key", "KEY", "the collector's public key" },
	{ OPT_COUNT, "count", "N", "sensors (default 100)" },
	{ OPT_SEED, "seed", "TEXT", "what their keys are made of (default swarm)" },
	{ OPT_FIRST, "first", "ID", "id of the first one (default 1)" },
	{ OPT_SENSORS_FILE, "sensors-file", "FILE", "write the collector's list of them" },
	{ OPT_TO, "to", "HOST:PORT", "run against this collector" },
	{ 'r', "read", "FILE", "send frames of this capture (default made-up ones)" },
	{ OPT_RATE, "rate", "N", "datagrams with frames a second, of all (default 0, any)" },
	{ OPT_COMBOS, "combos", "N", "combos of each sensor (with --seconds as many as go)" },
	{ OPT_SECONDS, "seconds", "S", "go on for so long (default 0, until all are sent)" },
	{ OPT_PATIENCE, "patience", "S", "and wait so long for what is not settled (default 60)" },
	{ OPT_RENEW, "renew", "S", "make new session keys after so long (default 120)" },
	{ OPT_PAD, "pad", NULL, "make all datagrams of one length" },
	{ OPT_JSON, "json", NULL, "report as JSON" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static volatile sig_atomic_t interrupted, again;

static void interrupt(int signo)
{
	if (signo == SIGUSR1)
		again = 1;
	else
		interrupted = 1;
}

/* ---- the list of sensors --------------------------------------------------------------------- */

static void list_print(FILE *f, const struct swarm_options *o)
{
	fprintf(f, "# saluki swarm: name id public-key\n");
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

/* ---- the loop -------------------------------------------------------------------------------- */

void swarm_ready(struct swarm *w, struct swarm_sensor *s)
{
	if (s->ready || s->done)
		return;
	s->ready = true;
	w->ready[(w->ready_from + w->ready_len++) % w->o->count] = s - w->sensors;
}

static struct swarm_sensor *next_ready(struct swarm *w)
{
	struct swarm_sensor *s = &w->sensors[w->ready[w->ready_from]];

	w->ready_from = (w->ready_from + 1) % w->o->count;
	w->ready_len--;
	s->ready = false;
	return s;
}

static void allow(struct swarm *w, uint64_t *before, uint64_t now)
{
	double most = w->o->rate / 50.0 + 1;

	if (w->o->rate)
		w->tokens += (now - *before) * (w->o->rate / 1e9);
	else
		w->tokens = ROUND;
	if (w->o->rate && w->tokens > most)
		w->tokens = most;
	*before = now;
}

static void send_round(struct swarm *w, uint64_t now)
{
	uint32_t turns = w->ready_len < ROUND / BURST ? w->ready_len : ROUND / BURST;

	while (turns-- && w->tokens >= 1) {
		struct swarm_sensor *s = next_ready(w);

		if (swarm_send_pieces(w, s, BURST, now))
			swarm_ready(w, s);
	}
}

static void tick_due(struct swarm *w, uint64_t now)
{
	uint64_t least = UINT64_MAX;

	for (long i = 0; i < w->o->count; i++) {
		if (w->due[i] <= now)
			swarm_sensor_tick(w, i, now);
		if (!w->sensors[i].done && w->sensors[i].settled < least)
			least = w->sensors[i].settled;
	}
	if (least != UINT64_MAX)
		swarm_combos_release(&w->combos, least);
}

static void receive(struct swarm *w, int sock)
{
	static uint8_t buffers[BATCH][SHROUD_DATAGRAM_MAX + 1];
	struct iovec iovecs[BATCH];
	struct mmsghdr messages[BATCH] = { 0 };
	int n;

	for (int i = 0; i < BATCH; i++) {
		iovecs[i] = (struct iovec){ buffers[i], sizeof(buffers[i]) };
		messages[i].msg_hdr.msg_iov = &iovecs[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(sock, messages, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		swarm_receive(w, buffers[i], messages[i].msg_len, monotonic_ns());
}

static void wait_and_receive(struct swarm *w, int epoll)
{
	struct epoll_event events[SOCKETS];
	int busy = w->ready_len && !w->o->rate;
	int n = epoll_wait(epoll, events, SOCKETS, busy ? 0 : w->ready_len ? 1 : TICK_NS / 1000000);

	for (int i = 0; i < n; i++)
		receive(w, events[i].data.fd);
}

/* Says, once, that all of them have set a session up, and with SIGUSR1 that they have again. */
static void tell_up(struct swarm *w, uint64_t now)
{
	static bool told;

	if (again) {
		again = 0;
		told = false;
		w->fresh = 0;
		for (long i = 0; i < w->o->count; i++)
			w->sensors[i].fresh = false;
		log_line("counting sessions from now on");
	}
	if (told || w->fresh < w->o->count)
		return;
	if (!w->all_up_ns)
		w->all_up_ns = now - w->start_ns;
	log_line("all %ld sensors have set up a session", w->o->count);
	told = true;
}

static void loop(struct swarm *w, int epoll)
{
	uint64_t now = monotonic_ns(), before = now, tick = 0, give_up = 0;

	w->start_ns = now;
	while (w->done < w->o->count) {
		now = monotonic_ns();
		if (!w->ending &&
		    (interrupted || (w->o->seconds && now - w->start_ns >= w->o->seconds * SECOND)))
			w->ending = true;
		if (!give_up &&
		    (w->ending || (!w->o->seconds && w->o->combos >= 0 &&
				   w->counters.combos >= (uint64_t)w->o->combos * w->o->count)))
			give_up = now + w->o->patience * SECOND;
		if (give_up && now >= give_up)
			return;
		if (now >= tick) {
			tick_due(w, now);
			tell_up(w, now);
			tick = now + TICK_NS;
		}
		allow(w, &before, now);
		send_round(w, now);
		wait_and_receive(w, epoll);
	}
}

/* ---- start ----------------------------------------------------------------------------------- */

static int socket_open(const struct addrinfo *a, int epoll)
{
	int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), size = RCVBUF;
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e)) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

/* Returns how many there are, or -errno after a line. */
static int sockets_open(const struct swarm_options *o, int epoll, int socks[SOCKETS])
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *a;
	int count = o->count < SOCKETS ? o->count : SOCKETS, err;

	err = getaddrinfo(o->host, o->port, &hints, &a);
	if (err) {
		log_line("--to %s:%s: %s", o->host, o->port, gai_strerror(err));
		return -EHOSTUNREACH;
	}
	for (int i = 0; i < count; i++) {
		socks[i] = socket_open(a, epoll);
		if (socks[i] >= 0)
			continue;
		log_line("--to %s:%s: %s", o->host, o->port, strerror(-socks[i]));
		count = socks[i];
	}
	freeaddrinfo(a);
	return count;
}

static int sensors_init(struct swarm *w, const int *socks, int sock_count)
{
	for (long i = 0; i < w->o->count; i++)
		if (swarm_sensor_init(w, i, socks[i % sock_count])) {
			log_line("--collector-key: is no public key");
			return -EINVAL;
		}
	return 0;
}

static int swarm_init(struct swarm *w, const struct swarm_options *o)
{
	w->o = o;
	w->sensors = calloc(o->count, sizeof(*w->sensors));
	w->due = calloc(o->count, sizeof(*w->due));
	w->ready = calloc(o->count, sizeof(*w->ready));
	w->set_up_ms = calloc(o->count, sizeof(*w->set_up_ms));
	if (!w->sensors || !w->due || !w->ready || !w->set_up_ms ||
	    table_init(&w->table, o->count * (SHROUD_WINDOW_MIN + 2))) {
		log_line("out of memory for %ld sensors", o->count);
		return -ENOMEM;
	}
	return swarm_combos_init(&w->combos, o->file);
}

static void swarm_free(struct swarm *w)
{
	for (long i = 0; w->sensors && w->table.entries && i < w->o->count; i++)
		swarm_sensor_free(w, i);
	swarm_combos_free(&w->combos);
	table_free(&w->table);
	free(w->set_up_ms);
	free(w->ready);
	free(w->due);
	free(w->sensors);
}

/* ---- report ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double set_up_ms(const struct swarm *w, double quantile)
{
	return w->set_up_count ? w->set_up_ms[(int)(quantile * (w->set_up_count - 1))] : 0;
}

/* name in JSON, what it counts, value */
#define REPORT(X)                                                                                  \
	X(sensors, "sensors", (uint64_t)w->o->count)                                               \
	X(sensors_done, "  of which all is settled", w->done)                                      \
	X(set_ups, "set-ups sent", w->counters.set_ups)                                            \
	X(sessions, "  answered", w->counters.sessions)                                            \
	X(renewals, "sessions renewed", w->counters.renewals)                                      \
	X(lost_sessions, "sessions that fell silent", w->counters.lost_sessions)                   \
	X(datagrams, "datagrams sent", w->counters.datagrams)                                      \
	X(bytes, "  bytes", w->counters.bytes)                                                     \
	X(heard, "datagrams heard", w->counters.heard)                                             \
	X(bad_datagrams, "  of which nothing could be made", w->counters.bad_datagrams)            \
	X(retransmitted, "pieces sent again", w->counters.retransmitted)                           \
	X(combos, "combos sent", w->counters.combos)                                               \
	X(combos_settled, "  settled", w->counters.combos_settled)                                 \
	X(frames, "frames sent", w->counters.frames)                                               \
	X(frames_settled, "  settled", w->counters.frames_settled)

static void report(struct swarm *w, uint64_t took_ns)
{
	qsort(w->set_up_ms, w->set_up_count, sizeof(*w->set_up_ms), compare);
	if (w->o->json) {
		printf("{\"seconds\": %.3f, \"all_up_s\": %.3f", took_ns / 1e9, w->all_up_ns / 1e9);
#define X(name, text, value) printf(", \"" #name "\": %llu", (unsigned long long)(value));
		REPORT(X)
#undef X
		printf(", \"set_up_ms\": {\"least\": %.2f, \"median\": %.2f, \"p99\": %.2f, "
		       "\"most\": %.2f}}\n",
		       set_up_ms(w, 0), set_up_ms(w, .5), set_up_ms(w, .99), set_up_ms(w, 1));
		return;
	}
	printf("%-32s %.3f\n%-32s %.3f\n", "seconds", took_ns / 1e9, "  until all sessions were up",
	       w->all_up_ns / 1e9);
#define X(name, text, value) printf("%-32s %llu\n", text, (unsigned long long)(value));
	REPORT(X)
#undef X
	printf("%-32s %.2f, median %.2f, 99 %% below %.2f, most %.2f\n", "set-up took ms: least",
	       set_up_ms(w, 0), set_up_ms(w, .5), set_up_ms(w, .99), set_up_ms(w, 1));
}

/* ---- command --------------------------------------------------------------------------------- */

static int run(const struct swarm_options *o)
{
	struct sigaction sa = { .sa_handler = interrupt };
	struct swarm w = { 0 };
	int socks[SOCKETS], count = 0, status = 1, epoll = epoll_create1(EPOLL_CLOEXEC);

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	if (swarm_init(&w, o) == 0 && (count = sockets_open(o, epoll, socks)) > 0 &&
	    sensors_init(&w, socks, count) == 0) {
		loop(&w, epoll);
		report(&w, monotonic_ns() - w.start_ns);
		status = w.done == o->count ? 0 : 1;
		if (status)
			log_line("%ld of %ld sensors have not settled all", o->count - w.done,
				 o->count);
	}
	swarm_free(&w);
	for (int i = 0; i < count; i++)
		close(socks[i]);
	close(epoll);
	return status;
}

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
		log_line("swarm: %s", why);
	if (o->combos < 0 && !o->seconds)
		o->combos = 10;
	return why ? -EINVAL : 0;
}

static void help(void)
{
	printf("Usage: saluki swarm [OPTION]...\n\n"
	       "Simulates many sensors that export real frames, sealed, to one collector, which "
	       "has\n"
	       "been given their list (--sensors-file). A tool for tests: who knows the seed "
	       "knows\n"
	       "all keys. Exit status 1: not everything was settled.\n\n");
	options_print(stdout, swarm_defs);
}

int swarm_main(int argc, char **argv)
{
	struct swarm_options o = { .seed = "swarm",
				   .count = 100,
				   .first = 1,
				   .combos = -1,
				   .patience = 60,
				   .renew = 120 };
	int id;

	while ((id = options_next(swarm_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (id == '?' || parse_option(id, &o))
			return EXIT_USAGE;
	}
	if (optind < argc) {
		log_line("swarm: %s: not an option; see 'saluki swarm --help'", argv[optind]);
		return EXIT_USAGE;
	}
	if (check(&o))
		return EXIT_USAGE;
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	if (o.sensors_file && swarm_list_write(&o))
		return 1;
	return o.host ? run(&o) : 0;
}
