// SPDX-License-Identifier: GPL-2.0
/*
 * collector_rate SENSORS FILE [ROUNDS]: the collector's CPU cost with SENSORS listed and connected.
 * The test's own sensors seal real frames of a capture. The datagrams go straight into
 * collector/network/session_receive.h, in batches as in receive.c; only this is timed, in this
 * thread's CPU time. Output goes to /dev/null: `-w -` with standard output replaced first. Prints
 * lines "name value":
 *
 *     setup_us           a handshake and the first datagram of its session
 *     memory_kib         of a connected, idle sensor, with all 1,024 addresses ahead
 *     one_per_s          real datagrams per second, all of one sensor
 *     one_ahead_per_s    the same, in turns, with a second thread on any CPU (ahead.h)
 *     one_junk_per_s     the same with a random datagram beside each, real ones counted
 *     all_per_s, all_junk_per_s   all other sensors in turn, one combo each
 *     junk_ns            a random datagram
 *     empty_ns           a random datagram, in a program that only receives it
 *     plain_bytes, wire_bytes, datagrams   content, size and number of data datagrams
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "swarm/swarm.h"
#include "collector/files/files.h"
#include "collector/network/sensor_list.h"
#include "collector/network/session_receive.h"
#include "collector/network/timers.h"
#include "collector/files/signals.h"
#include "collector/combo/combos.h"
#include "collector/combo/turns.h"
#include "collector/network/sensor.h"
#include "collector/output/sensor.h"
#include "wire/bytes.h"

#define BATCH 64 /* as RECEIVE_MESSAGES */
#define CHUNK (BATCH * 64)
#define WINDOW 1024
#define ROUNDS_DEFAULT 16
#define HEARD_EVERY 8
#define OTHERS 64	     /* sensors with different frames: a CPU learns repeated ones */
#define SETUPS_A_SECOND 1000 /* of simulated time */

struct peer {
	struct keypair own;
	uint8_t pair[KEY_LEN];
	uint64_t run, combo;
	uint64_t heard_combo; /* its next HEARD may come with this one */
	struct shroud_tx tx;
	uint16_t id;
};

struct sealed {
	size_t len;
	uint8_t bytes[SHROUD_DATAGRAM_MAX];
};

static struct bench {
	long sensors;
	struct peer *peers;
	struct sensors list;
	struct sensors_file file;
	struct collector_options options;
	struct files files;
	struct signals orders;
	struct output output;
	struct combos room;
	struct network network;
	int files_sock, sink;
	struct sockaddr_storage from, own; /* of the sink, of the collector */
	socklen_t from_len;
	uint64_t later_ns;			    /* how far the collector's time is ahead */
	struct swarm_combos combos, others[OTHERS]; /* of the first sensor, and of the others */
	struct sealed *real, *junk;
	uint64_t plain_bytes, wire_bytes, datagrams;
	long turn; /* the next sensor */
} b;

static FILE *out;

static void die(const char *what)
{
	fprintf(stderr, "collector_rate: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t now_ns(void)
{
	return monotonic_ns() + b.later_ns;
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* ---- the collector --------------------------------------------------------------------------- */

static void *serve_files(void *sock)
{
	while (files_answer(&b.files, *(int *)sock, false) == 0)
		;
	return NULL;
}

/* The privileged process is a thread here. */
static void start_files(void)
{
	static int socks[2], orders[2];
	pthread_t thread;

	b.options.write = "-";
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) ||
	    files_init(&b.files, &b.options) ||
	    pthread_create(&thread, NULL, serve_files, &socks[0]))
		die("files");
	b.files_sock = socks[1];
	b.orders.sock = orders[0];
}

static void list_sensors(void)
{
	b.file.count = b.sensors;
	b.file.lines = calloc(b.sensors, sizeof(*b.file.lines));
	for (long i = 0; i < b.sensors; i++) {
		struct sensors_line *l = &b.file.lines[i];

		snprintf(l->name, sizeof(l->name), "sensor-%ld", i + 1);
		l->id = b.peers[i].id = i + 1;
		l->number = i + 1;
		memcpy(l->public, b.peers[i].own.public, KEY_LEN);
	}
}

static void start_collector(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	start_files();
	key_generate(b.network.handshake.own[0].secret);
	key_public(b.network.handshake.own[0].public, b.network.handshake.own[0].secret);
	b.network.sock = socket(AF_INET, SOCK_DGRAM, 0);
	b.sink = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	b.from_len = sizeof(a);
	if (bind(b.network.sock, (struct sockaddr *)&a, sizeof(a)) ||
	    bind(b.sink, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(b.sink, (struct sockaddr *)&b.from, &b.from_len) ||
	    getsockname(b.network.sock, (struct sockaddr *)&b.own, &b.from_len))
		die("sockets");
	b.network.sensors = &b.list;
	b.network.combos = &b.room;
	b.room.sensors = &b.list;
	b.room.output = &b.output;
	if (combos_init(&b.room) ||
	    output_init(&b.output, &b.options, &b.list, b.files_sock, &b.orders))
		die("collector");
	sensor_list_init(&b.network, 0);
}

/* What the collector's loop does with a batch. */
static void feed(const struct sealed *const *list, int count)
{
	uint64_t now = now_ns();
	struct datagram datagrams[BATCH];

	for (int i = 0; i < count; i++)
		datagrams[i] = (struct datagram){ list[i]->bytes, list[i]->len,
						  (struct sockaddr *)&b.from, b.from_len, now };
	session_receive_batch(&b.network, datagrams, count);
	turns_all(&b.room, now);
	timers_tick(&b.network, now);
	output_tick(&b.output, now);
}

/* CPU time of so many datagrams, which arrive in buffers that are used again and again. */
static uint64_t feed_timed(const struct sealed *first, const struct sealed *beside, int count)
{
	static struct sealed buffers[2 * BATCH];
	const struct sealed *list[2 * BATCH];
	uint64_t took = 0, before;

	for (int i = 0; i < count; i += BATCH) {
		int n = 0;

		for (int k = i; k < count && k < i + BATCH; k++) {
			buffers[n] = first[k];
			n++;
			if (beside)
				buffers[n++] = beside[k];
		}
		for (int k = 0; k < n; k++)
			list[k] = &buffers[k];
		before = cpu_ns();
		for (int k = 0; k < n; k += BATCH)
			feed(list + k, n - k < BATCH ? n - k : BATCH);
		took += cpu_ns() - before;
	}
	return took;
}

/* ---- sensors --------------------------------------------------------------------------------- */

static void make_peers(void)
{
	b.peers = calloc(b.sensors, sizeof(*b.peers));
	if (!b.peers)
		die("memory");
	for (long i = 0; i < b.sensors; i++) {
		struct peer *p = &b.peers[i];

		key_generate(p->own.secret);
		key_public(p->own.public, p->own.secret);
		randombytes_buf(&p->run, sizeof(p->run));
	}
}

static void pair_peers(void)
{
	for (long i = 0; i < b.sensors; i++)
		if (tryst_pair(b.peers[i].pair, &b.peers[i].own, b.network.handshake.own[0].public,
			       true, NULL))
			die("pair");
}

static void seal(struct peer *p, struct sealed *d, const uint8_t *message, size_t len)
{
	d->len = shroud_seal(&p->tx, d->bytes, message, len, 0);
}

static void seal_totals(struct peer *p, struct sealed *d)
{
	uint8_t message[TOTALS_WIRE_MAX];
	struct totals t = { 0 };

	seal(p, d, message, totals_write(message, &t));
}

/* Returns the collector's CPU time. */
static uint64_t set_up(struct peer *p)
{
	struct tryst_hello hello = { .run = p->run,
				     .time_ns = clock_ns(CLOCK_REALTIME),
				     .window = WINDOW };
	struct shroud_keys up, down;
	struct tryst_welcome welcome;
	uint8_t k2[KEY_LEN], chain[KEY_LEN];
	uint64_t slots[TRYST_SLOTS], took;
	struct tryst_asked asked;
	static struct sealed d;
	ssize_t n;

	tryst_slots(slots, p->pair, hello.time_ns / TRYST_INTERVAL_NS);
	d.len = tryst_init(&asked, d.bytes,
			   &(struct tryst_keys){ &p->own, b.network.handshake.own[0].public,
						 p->pair },
			   slots[randombytes_uniform(TRYST_SLOTS)], &hello, 0);
	took = feed_timed(&d, NULL, 1);
	do { /* ACKs to earlier ones come too */
		n = recv(b.sink, d.bytes, sizeof(d.bytes), 0);
		if (n < 0)
			die("a handshake was not answered");
	} while (tryst_finish(&asked, &p->own, &welcome, k2, d.bytes, n));
	tryst_session(k2, &up, &down, chain);
	shroud_tx_init(&p->tx, &up);
	seal_totals(p, &d);
	return took + feed_timed(&d, NULL, 1);
}

static double set_up_all(void)
{
	uint64_t took = 0;

	for (long i = 0; i < b.sensors; i++) {
		if (i % SETUPS_A_SECOND == 0)
			b.later_ns += 1000000000;
		took += set_up(&b.peers[i]);
	}
	if (b.network.counters.sessions != (uint64_t)b.sensors)
		die("sessions are missing");
	return took / 1e3 / b.sensors;
}

/* Every address a session may know ahead is known, and no number behind is missing. */
static void open_windows(void)
{
	static struct sealed d;
	const struct sealed *list = &d;
	uint8_t message[MESSAGE_PROBE_LEN] = { MESSAGE_PROBE };

	for (long i = 0; i < b.sensors; i++) {
		struct peer *p = &b.peers[i];

		for (uint64_t n = SHROUD_WINDOW_MIN; n < WINDOW; n += SHROUD_WINDOW_MIN + n) {
			p->tx.next = n;
			seal(p, &d, message, sizeof(message));
			feed(&list, 1);
		}
		for (int n = 0; n < SHROUD_BEHIND; n++) {
			seal(p, &d, message, sizeof(message));
			feed(&list, 1);
		}
		while (recv(b.sink, d.bytes, sizeof(d.bytes), 0) >= 0)
			;
	}
}

/* ---- datagrams ------------------------------------------------------------------------------- */

static size_t cut(struct peer *p, const struct swarm_combo *c, size_t offset, struct sealed *d)
{
	size_t len = c->len - offset < PIECE_DATA_MAX ? c->len - offset : PIECE_DATA_MAX;
	uint8_t message[MESSAGE_MAX];

	piece_header_write(message, p->combo, offset, c->len);
	memcpy(message + PIECE_HEADER_LEN, c->wire + offset, len);
	if (!offset)
		store_be(message + PIECE_HEADER_LEN + 2, p->id, 2);
	seal(p, d, message, PIECE_HEADER_LEN + len);
	b.plain_bytes += len;
	b.wire_bytes += d->len;
	b.datagrams++;
	return offset + len;
}

static void seal_heard(struct peer *p, struct sealed *d)
{
	const struct sensor *s = b.list.list[p->id - 1];
	uint8_t message[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD };

	store_be(message + 1, s->network->sessions[s->network->current].tx.next - 1, 8);
	seal(p, d, message, sizeof(message));
}

/* Returns the frame at this part of the capture's bytes. Parts with equal numbers of frames would
 * begin mostly at short frames, of which a combo has more. */
static uint64_t frame_at(const struct swarm_combos *c, unsigned int part, unsigned int parts)
{
	uint64_t bytes = 0, before = 0, n = 0;

	for (uint64_t i = 0; i < c->frames_len; i++)
		bytes += c->frames[i].kept_len;
	while (before < bytes * part / parts)
		before += c->frames[n++].kept_len;
	return n;
}

/* Gives the others the first sensor's frames, each from another place on. */
static void prepare_others(void)
{
	for (unsigned int i = 0; i < OTHERS; i++) {
		struct swarm_combos *c = &b.others[i];

		*c = b.combos;
		c->frame = frame_at(c, i, OTHERS);
		if (combo_init(&c->combo, COMBO_SIZE_DEFAULT, c->combo.data_cap) ||
		    compress_init(&c->compress, 1, COMBO_SIZE_DEFAULT))
			die("memory");
	}
}

/* The next combo of a sensor. Returns datagrams; HEARD is among them where the collector waits for
 * that. */
static int seal_combo(struct peer *p, struct swarm_combos *combos, struct sealed *to)
{
	const struct swarm_combo *c = swarm_combos_get(combos, p->combo);
	const struct sensor *of = b.list.list[p->id - 1];
	const struct session *s = sensor_session(of);
	int n = 0;

	if (!c)
		die("combos");
	for (size_t at = 0; at < c->len;)
		at = cut(p, c, at, &to[n++]);
	p->combo++;
	/* The collector takes it only after the chunk is sealed. */
	if (s->tx.next - s->heard > HEARD_EVERY && p->combo >= p->heard_combo) {
		seal_heard(p, &to[n++]);
		p->heard_combo = p->combo + HEARD_EVERY;
	}
	return n;
}

/* Seals whole combos of the first sensor, or of the others in turn, as many as fit. Returns the
 * number of datagrams.
 */
static int seal_chunk(bool all)
{
	int n = 0;

	while (n + PIECE_COMBOS_AHEAD < CHUNK) {
		long i = all ? 1 + b.turn++ % (b.sensors - 1) : 0;

		n += seal_combo(&b.peers[i], all ? &b.others[i % OTHERS] : &b.combos, &b.real[n]);
	}
	if (!all)
		swarm_combos_release(&b.combos, b.peers[0].combo);
	for (unsigned int i = 0; all && i < OTHERS; i++) {
		uint64_t done = b.turn / (b.sensors - 1);

		swarm_combos_release(&b.others[i],
				     done < b.others[i].until ? done : b.others[i].until);
	}
	return n;
}

static void make_junk(int count)
{
	for (int i = 0; i < count; i++) {
		b.junk[i].len = 33 + randombytes_uniform(SHROUD_DATAGRAM_MAX - 32);
		randombytes_buf(b.junk[i].bytes, b.junk[i].len);
	}
}

/* Returns real datagrams per second of CPU time, in the fastest round: the others were
 * disturbed. */
static double rate(bool all, bool junk, int rounds)
{
	double best = 0;

	for (int i = 0; i < rounds; i++) {
		int n = seal_chunk(all);
		double now;

		if (junk)
			make_junk(n);
		now = n * 1e9 / feed_timed(b.real, junk ? b.junk : NULL, n);
		best = now > best ? now : best;
	}
	return best;
}

/* The thread may use all CPUs, while this one stays on its own. */
static void start_ahead(void)
{
	cpu_set_t own, all;

	memset(&all, 0xff, sizeof(all));
	if (sched_getaffinity(0, sizeof(own), &own) || sched_setaffinity(0, sizeof(all), &all) ||
	    ahead_start_thread(&b.room.ahead) || sched_setaffinity(0, sizeof(own), &own))
		die("a second thread");
}

/* One sensor's rates without and with the second thread, in turn. */
static void ahead_rates(int rounds, double *without, double *with)
{
	*without = *with = 0;
	for (int i = 0; i < rounds; i++) {
		double now = rate(false, false, 1);

		*without = now > *without ? now : *without;
		start_ahead();
		now = rate(false, false, 1);
		*with = now > *with ? now : *with;
		ahead_stop(&b.room.ahead);
	}
}

static double junk_ns(int rounds)
{
	double best = 1e9;

	for (int i = 0; i < rounds; i++) {
		double now;

		make_junk(CHUNK);
		now = (double)feed_timed(b.junk, NULL, CHUNK) / CHUNK;
		best = now < best ? now : best;
	}
	return best;
}

/* CPU time to receive a batch from the kernel. */
static uint64_t receive_timed(const struct sealed *first)
{
	static struct sealed buffers[BATCH];
	static struct iovec iovecs[BATCH];
	static struct mmsghdr messages[BATCH];
	uint64_t before;

	for (int i = 0; i < BATCH; i++) {
		iovecs[i] = (struct iovec){ buffers[i].bytes, sizeof(buffers[i].bytes) };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iovecs[i], .msg_iovlen = 1 };
		if (sendto(b.sink, first[i].bytes, first[i].len, 0, (struct sockaddr *)&b.own,
			   b.from_len) < 0)
			die("send");
	}
	before = cpu_ns();
	if (recvmmsg(b.network.sock, messages, BATCH, MSG_DONTWAIT, NULL) != BATCH)
		die("datagrams are missing");
	return cpu_ns() - before;
}

static double empty_ns(int rounds)
{
	double best = 1e9;

	for (int i = 0; i < rounds; i++) {
		double now = 0;

		make_junk(CHUNK);
		for (int k = 0; k < CHUNK; k += BATCH)
			now += (double)receive_timed(&b.junk[k]) / CHUNK;
		best = now < best ? now : best;
	}
	return best;
}

/* No datagram may have been refused: the measured work would not be the collector's.
 */
static void check(void)
{
	uint64_t settled = 0, sent = 0;

	b.later_ns += 1000000000;
	output_tick(&b.output, now_ns());
	for (long i = 0; i < b.sensors; i++) {
		settled += b.list.list[i]->output->settled;
		sent += b.peers[i].combo;
	}
	if (settled != sent || b.network.counters.not_authentic) {
		fprintf(stderr, "collector_rate: %llu of %llu combos are settled\n",
			(unsigned long long)settled, (unsigned long long)sent);
		exit(1);
	}
}

static void measure(int rounds)
{
	size_t before = in_use();
	double without, with;

	if (sensor_list_apply(&b.network, &b.file))
		die("sensors");
	while (handshake_turn(&b.network.handshake, &b.network.table, &b.list))
		;
	fprintf(out, "setup_us %.1f\n", set_up_all());
	open_windows();
	fprintf(out, "memory_kib %.2f\n", (in_use() - before) / 1024.0 / b.sensors);
	rate(false, false, 2); /* to warm up */
	ahead_rates(rounds, &without, &with);
	fprintf(out, "one_per_s %.0f\none_ahead_per_s %.0f\n", without, with);
	fprintf(out, "one_junk_per_s %.0f\n", rate(false, true, rounds));
	if (b.sensors > 1) {
		while (b.turn < 2 * b.sensors) /* a first combo's extra cost occurs once */
			feed_timed(b.real, NULL, seal_chunk(true));
		fprintf(out, "all_per_s %.0f\n", rate(true, false, rounds));
		fprintf(out, "all_junk_per_s %.0f\n", rate(true, true, rounds));
	}
	fprintf(out, "junk_ns %.1f\n", junk_ns(rounds));
	fprintf(out, "empty_ns %.1f\n", empty_ns(rounds));
	check();
	fprintf(out, "plain_bytes %llu\nwire_bytes %llu\ndatagrams %llu\n",
		(unsigned long long)b.plain_bytes, (unsigned long long)b.wire_bytes,
		(unsigned long long)b.datagrams);
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	if (argc < 3) {
		fprintf(stderr, "Usage: collector_rate SENSORS FILE [ROUNDS]\n");
		return 2;
	}
	out = fdopen(dup(1), "w");
	if (!out || dup2(null, 1) < 0 || keys_init())
		die("start");
	b.sensors = atol(argv[1]);
	b.real = calloc(CHUNK, sizeof(*b.real));
	b.junk = calloc(CHUNK, sizeof(*b.junk));
	make_peers();
	if (!b.real || !b.junk || swarm_combos_init(&b.combos, argv[2]))
		die(argv[2]);
	prepare_others();
	list_sensors();
	start_collector();
	pair_peers();
	measure(argc > 3 ? atoi(argv[3]) : ROUNDS_DEFAULT);
	return fclose(out) ? 1 : 0;
}
