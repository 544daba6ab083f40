// SPDX-License-Identifier: GPL-2.0
/*
 * A board at BOARD_PATH without a collector: sensors with frames, channels and places, once a
 * second.
 *
 *     pretend_board COUNT [MINUTES]
 *
 * Lines on stdin change sensors, from the next second on: "NUMBER WORD", with the numbers of the
 * names s-0, s-1, ... and a word of `words` below; "refused" gives the collector three refused
 * keys, "hostile" makes sensor NUMBER's texts HTML, "disk" fills the disk, "sink" and "source" give
 * the collector these options, and "stopped" stops their saluki-kafka. Ends with stdin. With
 * MINUTES, the board begins so long ago, and shows a minute each second until it is now.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "board/board.h"
#include "common/privsep.h"
#include "common/unix_listen.h"

#define CHANNELS 13
#define PER_GROUP 25
#define GIB (1ULL << 30)

enum word {
	UP,
	SILENT,
	ENDED,
	NEVER,
	DOWN,
	DEAF,
	LOSING,
	SHARED,
	HELD,
	UNBALANCED,
	UNLISTED,
	WORDS
};
static const char *const words[WORDS] = { "up",	  "silent",	"ended",   "never",
					  "down", "deaf",	"losing",  "shared",
					  "held", "unbalanced", "unlisted" };

static struct board *board;
static uint32_t count;
static enum word *states;
static uint64_t *since_us; /* of the state */
static bool *hostile;
static uint32_t refused;
static bool sink, source, stopped;
static uint64_t used = 610 * GIB, rate; /* of the disk, and a second */
static const char *const buildings[] = { "library",    "physics",   "canteen", "north-hall",
					 "south-hall", "chemistry", "sports",  "archive" };

static uint64_t real_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static uint64_t begin_us, early_us;

static uint64_t now_us(void)
{
	uint64_t us = real_us(), fast = begin_us - early_us + (us - begin_us) * 60;

	return early_us && fast < us ? fast : us;
}

/* A number that depends on `seed` only. */
static uint32_t chance(uint32_t seed, uint32_t below)
{
	seed = (seed ^ 61) * 2654435761U;
	seed ^= seed >> 15;
	seed *= 2246822519U;
	return (seed >> 8) % below;
}

static void place(struct board_sensor *s, uint32_t i)
{
	uint32_t group = i / PER_GROUP, at = i % PER_GROUP;

	snprintf(s->group, sizeof(s->group), "%s%s%.0u", buildings[group % 8], group < 8 ? "" : "-",
		 group / 8);
	s->placed = BOARD_PLACED_FLOOR | BOARD_PLACED_X | BOARD_PLACED_Y;
	s->floor = group % 3;
	s->x = group / 3 % 4 * 45 + at % 5 * 8 + chance(i, 30) / 10.0;
	s->y = group / 12 * 40 + at / 5 * 7 + chance(i + 7, 30) / 10.0;
	if (i % 41 == 40)
		s->placed = 0;
}

/* The ledger of a sensor that began at the start: it loses nothing, unless it is LOSING. */
static void counters(struct board_sensor *s, uint32_t i, uint64_t seconds)
{
	uint64_t rate = 150 + chance(i, 5000), seen = rate * seconds;

	s->totals.seen = seen;
	s->totals.filtered = seen / 8;
	s->totals.ring_full = chance(i, 9) ? 0 : 40 + i;
	s->totals.captured = seen - s->totals.filtered - s->totals.ring_full;
	s->totals.exported = s->totals.captured - rate / 10;
	s->written = s->totals.exported - rate / 20;
	s->in_flight = rate / 20;
	if (states[i] == LOSING) {
		s->lost_missing = s->written / 50;
		s->written -= s->lost_missing;
	}
	s->received_bytes = s->written * 11;
	s->totals.store_limit = 64 << 20;
	s->totals.store = s->totals.store_limit / 100 * chance(i, 12);
	s->balance = states[i] == UNBALANCED ? 12 : 0;
}

static void sensor(struct board_sensor *s, uint32_t i, uint64_t begun_us, uint64_t time_us)
{
	enum word state = states[i];
	bool gone = state == SILENT || state == ENDED;
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(0x0a000000 + i + 1) };

	*s = (struct board_sensor){ .id = i + 1, .listed = state != UNLISTED, .interfaces = 1 };
	snprintf(s->name, sizeof(s->name), "s-%u", i);
	place(s, i);
	if (state == NEVER)
		return;
	s->presence = state == SILENT ? BOARD_SILENT : state == ENDED ? BOARD_ENDED : BOARD_UP;
	s->heard_us = gone ? since_us[i] : time_us;
	s->runs = s->run = s->counted = 1;
	s->held = state == HELD;
	s->twice_us = state == SHARED ? time_us : 0;
	s->newest_us = s->heard_us - 300000 + chance(i, 9000);
	s->ahead_us = chance(i, 9000);
	s->round_trip_us = 400 + chance(i, 3000);
	memcpy(s->address, &in, sizeof(in));
	s->address_len = sizeof(in);
	snprintf(s->application, sizeof(s->application), "saluki 1.%u", chance(i, 12) ? 9 : 8);
	if (hostile[i])
		strcpy(s->application, "<img src=x onerror=alert(1)> \xe2\x80\xae"
				       "evil \xff");
	counters(s, i, ((gone ? since_us[i] : time_us) - begun_us) / 1000000 + 1000);
}

/* Percent of a minute that the sensor listens to channel `n`. */
static uint32_t part(uint32_t interface, uint32_t n, uint64_t minute)
{
	uint32_t usual = n == 0 || n == 5 || n == 10 ? 20 : 4;

	return usual * (40 + chance(interface % 2 + n * 997 + minute * 31, 121)) / 100;
}

static void channel(struct board_channel *c, uint32_t interface, uint32_t n, uint64_t seconds)
{
	static const uint32_t mhz[CHANNELS] = { 2412, 2417, 2422, 2427, 2432, 2437, 2442,
						2447, 2452, 2457, 2462, 5180, 5200 };
	uint64_t listened = part(interface, n, seconds / 60) * (seconds % 60);

	for (uint64_t m = 0; m < seconds / 60; m++)
		listened += part(interface, n, m) * 60;
	*c = (struct board_channel){ .interface = interface,
				     .mhz = mhz[n],
				     .width = 20,
				     .center = mhz[n],
				     .dwells = seconds };
	c->listened_ns = listened * 10000000;
	c->frames = listened * 5;
}

static void interface(struct board_slot *s, const struct board_sensor *b, uint32_t i,
		      uint64_t time_us, uint64_t begun_us)
{
	struct board_interface *x = &s->interfaces[i];
	uint64_t seconds = (time_us - begun_us) / 1000000 + 1000;

	*x = (struct board_interface){
		.sensor = i, .radio = 1, .snaplen = 256, .rose_us = time_us
	};
	snprintf(x->name, sizeof(x->name), "%s", hostile[i] ? "<b>\xd7\xa9\xd7\x9c</b>" : "wlan0");
	strcpy(x->source, "ring");
	strcpy(x->filter, "type mgt or type data");
	if (states[i] == DOWN)
		strcpy(x->state, "no carrier");
	if (states[i] == DEAF)
		x->rose_us = since_us[i] - 2 * 60000000;
	x->seen = b->totals.seen;
	x->captured = b->totals.captured;
	x->filtered = b->totals.filtered;
	x->begin_ns = x->from_ns = begun_us * 1000 - 1000000000000;
	x->end_ns = x->to_ns = time_us * 1000;
	for (uint32_t n = 0; n < CHANNELS; n++)
		channel(&s->channels[i * CHANNELS + n], i, n, seconds);
}

static void refusals(struct board_slot *s, uint64_t begun_us, uint64_t time_us)
{
	static const char *const names[3] = { "", "s-3", "" };
	static const uint32_t reasons[3] = { BOARD_UNLISTED, BOARD_UNPROVED, BOARD_WRONG_KEY };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0a80117) };

	for (uint32_t i = 0; i < refused; i++) {
		struct board_refused *r = &s->refused[i];

		*r = (struct board_refused){ .reason = reasons[i],
					     .address_len = sizeof(in),
					     .first_us = begun_us,
					     .last_us = time_us,
					     .count = 37 };
		memcpy(r->address, &in, sizeof(in));
		snprintf(r->name, sizeof(r->name), "%s", names[i]);
		if (reasons[i] != BOARD_WRONG_KEY)
			strcpy(r->key, "mJ3jvQxLcCZ0pFJ5kq1d0oQwq6r3x1yQnTn5pW8sB0E=");
	}
}

static struct board_kafka kafka(uint64_t time_us)
{
	struct board_kafka k = {
		.used = 1, .connected = 1, .topic = "saluki.combos", .brokers = "b1:9092"
	};

	if (!stopped)
		return k;
	k.stopped_us = time_us - 75000000;
	strcpy(k.why, "b1:9092|1: <b>Connection refused</b>");
	return k;
}

static void kafkas(struct board_collector *c, uint64_t time_us)
{
	if (sink)
		c->sink = (struct board_sink){ .kafka = kafka(time_us),
					       .waiting = 12,
					       .waiting_bytes = 38400,
					       .oldest_us = time_us - (stopped ? 75000000 : 30000),
					       .delivered = 5120,
					       .refused = 1,
					       .acks = { 0, 1, 20, 5000, [14] = 99, [15] = 1 },
					       .acks_ns = 40123456789 };
	if (source)
		c->source = (struct board_source){ .kafka = kafka(time_us),
						   .lag = 34000,
						   .messages = 7041,
						   .combos = 7000,
						   .repeated = 40,
						   .bad = 1 };
}

static void collector(struct board_slot *s, uint64_t begun_us, uint64_t time_us)
{
	static uint64_t before_us;
	struct board_collector *c = &s->collector;

	*c = (struct board_collector){ .time_us = time_us,
				       .begun_us = begun_us - 86400000000,
				       .interval_ns = before_us ? (time_us - before_us) * 1000 : 0,
				       .version = "1.9",
				       .file = "/srv/captures/campus.pcapng" };
	before_us = time_us;
	c->sensors = c->interfaces = count;
	c->channels = count * CHANNELS;
	c->refused = refused;
	c->disk_size = 1000 * GIB;
	c->disk_free = c->disk_size - used;
	c->written_us = time_us;
	kafkas(c, time_us);
	used += rate * (c->interval_ns / 1000) / 1000000;
}

static void publish(uint64_t begun_us)
{
	uint32_t n = board->published + 1;
	struct board_slot *s = board_slot(board, n);
	uint64_t time_us = now_us();

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	collector(s, begun_us, time_us);
	for (uint32_t i = 0; i < count; i++) {
		struct board_sensor b;

		sensor(&b, i, begun_us, time_us);
		board_sensor_write(s, i, &b);
		interface(s, &b, i, time_us, begun_us);
	}
	refusals(s, begun_us, time_us);
	__atomic_store_n(&board->published, n, __ATOMIC_RELEASE);
}

static void order(char *line)
{
	char word[32] = "";
	uint32_t i = strtoul(line, &line, 10);

	sscanf(line, "%31s", word);
	if (!strcmp(word, "refused"))
		refused = 3;
	if (!strcmp(word, "disk"))
		rate = 500000;
	sink |= !strcmp(word, "sink");
	source |= !strcmp(word, "source");
	stopped |= !strcmp(word, "stopped");
	for (int w = 0; w < WORDS && i < count; w++)
		if (!strcmp(word, words[w])) {
			states[i] = w;
			since_us[i] = now_us();
		}
	if (!strcmp(word, "hostile") && i < count)
		hostile[i] = true;
}

static void give(int listener, int memory)
{
	const struct board_hello hello = { BOARD_MAGIC, BOARD_VERSION };
	int other = accept(listener, NULL, NULL);

	if (other >= 0) {
		privsep_send(other, &hello, sizeof(hello), &memory, 1);
		close(other);
	}
}

static int run(int listener, int memory, int timer)
{
	struct pollfd p[] = { { listener, POLLIN, 0 }, { timer, POLLIN, 0 }, { 0, POLLIN, 0 } };
	uint64_t begun_us, times;
	char line[64];

	begin_us = real_us();
	begun_us = now_us();
	publish(begun_us);
	publish(begun_us);
	puts("ready");
	fflush(stdout);
	while (poll(p, 3, -1) >= 0) {
		if (p[0].revents)
			give(listener, memory);
		if (p[1].revents && read(timer, &times, sizeof(times)) > 0)
			publish(begun_us);
		if (!p[2].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		order(line);
	}
	return 1;
}

int main(int argc, char **argv)
{
	const struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	int memory = memfd_create("pretend_board", MFD_CLOEXEC | MFD_ALLOW_SEALING), listener,
	    timer;
	const char *why;

	if (argc < 2 || ftruncate(memory, BOARD_BYTES) || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		return 2;
	setvbuf(stdin, NULL, _IONBF, 0);
	count = strtoul(argv[1], NULL, 10);
	early_us = argc > 2 ? strtoul(argv[2], NULL, 10) * 60000000ULL : 0;
	states = calloc(count, sizeof(*states));
	since_us = calloc(count, sizeof(*since_us));
	hostile = calloc(count, sizeof(*hostile));
	board = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	listener = unix_listen(BOARD_PATH, SOCK_SEQPACKET, 1, 16, &why);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (!states || !since_us || !hostile || board == MAP_FAILED || listener < 0 || timer < 0 ||
	    chmod(BOARD_PATH, 0666))
		return 1;
	board->magic = BOARD_MAGIC;
	board->version = BOARD_VERSION;
	timerfd_settime(timer, 0, &second, NULL);
	return run(listener, memory, timer);
}
