// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/session.o agent/export/session_keys.o agent/export/session_link.o
 * agent/export/instance.o agent/export/handshake.o agent/export/handshake_answer.o
 * agent/export/failure_reason.o agent/export/handshake_slots.o agent/export/session_receive.o
 * agent/export/session_mailbox.o agent/export/sockets.o agent/capture/queue.o agent/source/clock.o
 * wire/tryst.o wire/shroud.o wire/table.o wire/derive.o wire/keys.o wire/request.o wire/info.o
 * wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o wire/fields.o */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/export/session.h"
#include "agent/source/clock.h"

/* Collectors made of wire/'s functions on loopback sockets, and a session with a simulated clock. A
 * datagram to this machine has arrived when send() returns. */

#define SECOND_NS 1000000000ULL
#define TODAY_NS (1800000000 * SECOND_NS)
#define COLLECTORS 2
#define WINDOW 128 /* granted by the collector */

struct world;

struct collector {
	int sock;
	struct keypair own;
	uint8_t pair[KEY_LEN];
	struct request_keys request_keys;
	int64_t clock_ns; /* ahead of the world's */
	bool deaf, answers_requests_only, knows_no_slot, is_busy, is_old;
	bool keeps_answer; /* answers requests only when the test lets it */
	uint8_t kept[SHROUD_DATAGRAM_MAX];
	long kept_len;
	uint32_t window; /* granted */
	/* from the sensor */
	struct tryst_hello hello;
	uint8_t answer[SHROUD_DATAGRAM_MAX]; /* the last one */
	long answer_len;
	struct sockaddr_in from, session_from;
	struct table table;
	struct shroud_rx rx;
	struct shroud_tx tx;
	uint8_t chain[KEY_LEN];
	unsigned int set_ups, requests, fresh, strange;
	size_t shortest, longest;	      /* of the datagrams received */
	uint8_t message[SHROUD_DATAGRAM_MAX]; /* the last one opened */
	long message_len;
};

static struct world {
	struct session s;
	struct session_path path;
	struct collector c[COLLECTORS];
	struct keypair sensor;
	uint64_t now_ns;
	__u64 exported;
	int64_t sensor_clock_ns; /* ahead of the world's */
} w;

static uint64_t world_time(void)
{
	return TODAY_NS + w.now_ns;
}

static uint64_t sensor_time(void)
{
	return world_time() + w.sensor_clock_ns;
}

/* ---- the collector --------------------------------------------------------------------------- */

static void collector_open(struct collector *c)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	key_generate(c->own.secret);
	assert_int_equal(key_public(c->own.public, c->own.secret), 0);
	assert_int_equal(tryst_pair(c->pair, &c->own, w.sensor.public, false, NULL), 0);
	request_keys_init(&c->request_keys, c->own.public);
	c->sock = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(c->sock, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(table_init(&c->table, 64), 0);
	c->window = WINDOW;
}

static void collector_send(struct collector *c, const void *out, size_t len)
{
	assert_int_equal(sendto(c->sock, out, len, 0, (struct sockaddr *)&c->from, sizeof(c->from)),
			 len);
}

static void collector_keys(struct collector *c, uint8_t k2[KEY_LEN])
{
	struct shroud_keys up, down;

	shroud_rx_free(&c->rx, &c->table);
	tryst_session(k2, &up, &down, c->chain);
	assert_int_equal(shroud_rx_init(&c->rx, &c->table, &up, 1, WINDOW), 0);
	shroud_tx_init(&c->tx, &down);
}

#define COOKIE 0x1122334455667788ULL

/* Answers an m1 as a collector of version 1 does. */
static void collector_old(struct collector *c, const uint8_t *in, size_t len)
{
	uint8_t key[KEY_LEN], hash[KEY_LEN], shared[KEY_LEN], message[TRYST_WELCOME_LEN] = { 0 };

	derive_hash(hash, in, len);
	assert_int_equal(derive_shared(shared, c->own.secret, c->hello.ephemeral), 0);
	derive(shared, c->pair, "k1", hash, KEY_LEN, shared, KEY_LEN);
	derive(key, shared, "answer address", NULL, 0, NULL, 0);
	memcpy(c->answer, key, 8);
	derive(key, shared, "answer", NULL, 0, NULL, 0);
	derive_seal(key, 0, c->answer + 8, message, sizeof(message));
	collector_send(c, c->answer, 8 + sizeof(message) + DERIVE_TAG_LEN);
}

static bool collector_welcome(struct collector *c, const uint8_t *in, size_t len)
{
	struct tryst_welcome welcome = { .time_ns = world_time() + c->clock_ns,
					 .window = c->is_busy ? 0 : c->window,
					 .flags = c->is_busy ? TRYST_BUSY : 0,
					 .sensor_id = 7 };
	uint8_t k2[KEY_LEN];

	if (c->answers_requests_only || tryst_accept(&c->hello, c->pair, in, len))
		return false;
	welcome.flags |= c->hello.flags & TRYST_PADDED;
	assert_int_equal(c->hello.version, TRYST_VERSION);
	c->set_ups++;
	if (c->is_old) {
		collector_old(c, in, len);
		return true;
	}
	c->answer_len = tryst_answer(c->answer, k2,
				     &(struct tryst_keys){ &c->own, w.sensor.public, c->pair },
				     &c->hello, &welcome, in, len);
	assert_true(c->answer_len > 0 && c->answer_len <= 1232);
	collector_keys(c, k2);
	c->session_from = c->from;
	collector_send(c, c->answer, c->answer_len);
	return true;
}

/* An m1 in a slot of this interval or its neighbours. */
static bool collector_set_up(struct collector *c, const uint8_t *in, size_t len)
{
	uint64_t slots[TRYST_SLOTS], at = (world_time() + c->clock_ns) / TRYST_INTERVAL_NS;
	bool known = false;

	for (uint64_t interval = at - 1; interval <= at + 1; interval++) {
		tryst_slots(slots, c->pair, interval);
		for (int i = 0; i < TRYST_SLOTS; i++)
			known |= slots[i] == load_word(in);
	}
	return known && !c->knows_no_slot && collector_welcome(c, in, len);
}

static void collector_answer(struct collector *c, const struct request *q)
{
	struct request_answer said = { .time_ns = world_time() + c->clock_ns, .cookie = COOKIE };
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t n = request_answer(out, q, &said);

	c->requests++;
	if (c->answers_requests_only) /* a new time each time */
		c->clock_ns += SECOND_NS;
	if (c->keeps_answer)
		memcpy(c->kept, out, c->kept_len = n);
	else
		collector_send(c, out, n);
}

static uint64_t collector_interval(const struct collector *c)
{
	return (world_time() + c->clock_ns) / TRYST_INTERVAL_NS;
}

static bool collector_request(struct collector *c, const uint8_t *in, size_t len)
{
	struct request q;
	uint64_t date;

	if (!request_plausible(&c->request_keys, in, len, collector_interval(c), &date) ||
	    request_open(&q, &c->own, in, len, date))
		return false;
	assert_int_equal(len, REQUEST_LEN);
	assert_memory_equal(q.sensor, w.sensor.public, KEY_LEN);
	if (q.kind == REQUEST_COOKIE) {
		assert_true(request_proved(&q, c->pair));
		collector_answer(c, &q);
		return true;
	}
	assert_true(load_word(q.rest) == COOKIE);
	c->fresh++;
	return collector_welcome(c, q.rest, q.rest_len);
}

static bool collector_open_message(struct collector *c, const uint8_t *in, size_t len)
{
	const struct table_entry *e = table_find(&c->table, load_word(in), NULL);
	uint64_t number;

	if (!e)
		return false;
	c->message_len = shroud_open(&c->rx, &c->table, e->low, &number, c->message, in, len);
	return c->message_len > 0;
}

static void collector_receive(struct collector *c)
{
	uint8_t in[2000];
	socklen_t from_len = sizeof(c->from);
	ssize_t n;

	while ((n = recvfrom(c->sock, in, sizeof(in), 0, (struct sockaddr *)&c->from, &from_len)) >
	       0) {
		c->shortest = !c->shortest || (size_t)n < c->shortest ? (size_t)n : c->shortest;
		c->longest = (size_t)n > c->longest ? (size_t)n : c->longest;
		if (!c->deaf && !collector_open_message(c, in, n) && !collector_set_up(c, in, n) &&
		    !collector_request(c, in, n))
			c->strange++;
		from_len = sizeof(c->from);
	}
}

static void collector_say(struct collector *c, const uint8_t *message, size_t len)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];

	collector_send(c, out, shroud_seal(&c->tx, out, message, len, 0));
}

static void collector_ack(struct collector *c, uint64_t settled)
{
	uint8_t message[ACK_LEN];
	struct ack a = { .highest = c->rx.highest, .settled = settled };

	shroud_received(&c->rx, a.received);
	ack_write(message, &a);
	collector_say(c, message, sizeof(message));
}

/* ---- the world ------------------------------------------------------------------------------- */

static void world_open(unsigned int collectors)
{
	char port[COLLECTORS][8];
	struct sockets_name to[COLLECTORS];
	struct keys_peers peers = { .count = collectors };

	memset(&w, 0, sizeof(w));
	w.now_ns = 1000 * SECOND_NS;
	key_generate(w.sensor.secret);
	assert_int_equal(key_public(w.sensor.public, w.sensor.secret), 0);
	for (unsigned int i = 0; i < collectors; i++) {
		struct sockaddr_in at;
		socklen_t len = sizeof(at);

		collector_open(&w.c[i]);
		getsockname(w.c[i].sock, (struct sockaddr *)&at, &len);
		snprintf(port[i], sizeof(port[i]), "%u", ntohs(at.sin_port));
		to[i] = (struct sockets_name){ .host = "127.0.0.1", .port = port[i] };
		memcpy(peers.peer[i].public, w.c[i].own.public, KEY_LEN);
	}
	assert_int_equal(session_init(&w.s, to, collectors, &w.sensor, &peers), 0);
	w.s.realtime_ns = sensor_time;
	w.s.exported = &w.exported;
}

static void world_close(void)
{
	session_free(&w.s);
	for (int i = 0; i < COLLECTORS; i++) {
		if (w.c[i].sock > 0)
			close(w.c[i].sock);
		table_free(&w.c[i].table);
	}
}

/* Both ends process datagrams until none is left. */
static void settle(void)
{
	for (int i = 0; i < 4; i++) {
		for (int c = 0; c < COLLECTORS && w.c[c].sock > 0; c++)
			collector_receive(&w.c[c]);
		session_receive(&w.s, w.now_ns);
		session_tick(&w.s, w.now_ns);
	}
}

static void pass(uint64_t ns)
{
	w.now_ns += ns;
	session_tick(&w.s, w.now_ns);
	settle();
}

/* Advances the clock in steps until there is a session. Returns the milliseconds. */
static unsigned int pass_until_up(unsigned int most_ms)
{
	unsigned int ms = 0;

	for (settle(); !session_use(&w.s, &w.path); ms += 50) {
		if (ms >= most_ms)
			fail_msg("no session after %u ms", ms);
		pass(50000000);
	}
	return ms;
}

static void up(void)
{
	pass(0);
	assert_true(session_use(&w.s, &w.path));
}

/* As the export thread: seals the outbox, and a message of its own. */
static unsigned int export(void)
{
	uint8_t message[MESSAGE_MAX], out[SHROUD_DATAGRAM_MAX];
	unsigned int n = 0;
	size_t len;

	assert_true(session_use(&w.s, &w.path));
	while ((len = session_outbox(&w.s, w.path.generation, message)) > 0) {
		if (message[0] == MESSAGE_PROBE)
			store_be(message + 1, world_time(), 8);
		len = shroud_seal(&w.path.tx, out, message, len, 0);
		assert_int_equal(send(w.path.sock, out, len, 0), len);
		n++;
	}
	session_sent(&w.s, w.now_ns);
	return n;
}

static void export_totals_like(void)
{
	static const uint8_t message[] = { MESSAGE_TOTALS, 0, 0 };
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t len;

	assert_true(session_use(&w.s, &w.path));
	len = shroud_seal(&w.path.tx, out, message, sizeof(message), 0);
	send(w.path.sock, out, len, 0);
	session_sent(&w.s, w.now_ns);
}

/* ---- handshake ------------------------------------------------------------------------------- */

static void a_session_is_set_up(void **state)
{
	(void)state;
	world_open(1);
	w.exported = 4711;
	snprintf(w.s.info.application, sizeof(w.s.info.application), "saluki test");
	up();
	assert_int_equal(w.path.generation, 1);
	assert_int_equal(w.path.window, WINDOW);
	assert_int_equal(w.path.sensor_id, 7);
	assert_true(w.c[0].hello.run == w.s.run);
	assert_int_equal(w.c[0].hello.window, SESSION_WINDOW);
	assert_non_null(strstr((char *)w.c[0].hello.info, "exported=4711\n"));
	export_totals_like();
	settle();
	assert_int_equal(w.c[0].message[0], MESSAGE_TOTALS);
	assert_int_equal(w.s.bad_datagrams, 0);
	world_close();
}

static void the_first_answers_are_lost(void **state)
{
	unsigned int ms;

	(void)state;
	world_open(1);
	w.c[0].deaf = true;
	pass(0);
	pass(500000000);
	assert_int_equal(w.s.unanswered, 1);
	for (int i = 0; i < 20; i++) /* each second, and up to a quarter */
		pass(SECOND_NS / 2);
	assert_in_range(w.s.unanswered, 8, 11);
	w.c[0].deaf = false;
	ms = pass_until_up(11000);
	assert_true(ms <= 1250 + 50);
	world_close();
}

static void attempts_become_rare(void **state)
{
	unsigned int ms, before;

	(void)state;
	world_open(1);
	w.c[0].deaf = true;
	pass(0);
	for (int i = 0; i < 80; i++)
		pass(SECOND_NS / 2);
	before = w.s.attempts;
	for (int i = 0; i < 80; i++) /* 8 seconds, and up to a quarter */
		pass(SECOND_NS / 2);
	assert_in_range(w.s.attempts - before, 4, 5);
	w.c[0].deaf = false;
	ms = pass_until_up(11000);
	assert_true(ms <= 10000 + 50);
	world_close();
}

static unsigned int slots_used(void)
{
	unsigned int n = 0;

	for (int i = 0; i < 3; i++)
		n += __builtin_popcount(w.s.peers[0].keys[0].slots[i].used);
	return n;
}

/* The ports differ too: each is a datagram like any other. Without a free slot the sensor sends a
 * request. */
static void set_ups_differ_in_slot_and_port(void **state)
{
	(void)state;
	world_open(1);
	w.now_ns -= w.now_ns % TRYST_INTERVAL_NS;
	w.c[0].answers_requests_only = true;
	for (unsigned int i = 0; i < 50; i++) {
		struct sockaddr_in before = w.c[0].from;
		unsigned int used = slots_used();

		w.s.next_init_ns = 0;
		pass(SECOND_NS / 100);
		assert_int_equal(slots_used(), used + (i < TRYST_SLOTS));
		assert_int_not_equal(before.sin_port, w.c[0].from.sin_port);
		assert_int_equal(w.c[0].requests, i < TRYST_SLOTS ? 0 : i + 1 - TRYST_SLOTS);
		w.c[0].clock_ns = 0;
	}
	w.c[0].answers_requests_only = false;
	w.s.next_init_ns = 0;
	pass(0);
	assert_true(session_use(&w.s, &w.path));
	assert_int_equal(w.c[0].fresh, 51 - TRYST_SLOTS);
	world_close();
}

/* An earlier agent used its slot, or the collector did not receive it. */
static void what_is_not_answered_soon_is_asked_about(void **state)
{
	(void)state;
	world_open(1);
	w.c[0].knows_no_slot = true;
	pass(0);
	assert_int_equal(w.c[0].requests, 0);
	assert_true(pass_until_up(1000) <= SESSION_REQUEST_NS / 1000000 + 50);
	assert_int_equal(w.c[0].requests, 1);
	assert_int_equal(w.c[0].fresh, 1);
	assert_int_equal(w.c[0].strange, 1); /* the m1 under the slot */
	world_close();
}

/* Each of the two requests is answered while the other one is under way. */
static void a_slow_path_answers_both_requests(void **state)
{
	uint8_t first[SHROUD_DATAGRAM_MAX];
	long first_len;

	(void)state;
	world_open(1);
	w.c[0].keeps_answer = w.c[0].knows_no_slot = true;
	pass(0);
	pass(SESSION_REQUEST_NS);
	memcpy(first, w.c[0].kept, first_len = w.c[0].kept_len);
	pass(SESSION_UNDATED_NS);
	assert_int_equal(w.c[0].requests, 2);
	collector_send(&w.c[0], first, first_len);
	collector_send(&w.c[0], w.c[0].kept, w.c[0].kept_len);
	settle();
	assert_true(session_use(&w.s, &w.path));
	assert_int_equal(w.c[0].fresh, 1);
	assert_int_equal(w.s.bad_datagrams, 0);
	pass(SECOND_NS / 2);
	assert_int_equal(w.c[0].requests, 2);
	world_close();
}

/* ---- reasons for no session ------------------------------------------------------------------ */

static void why_is(enum session_sign sign, const char *words)
{
	char why[SESSION_FAILURE_REASON_MAX];

	assert_int_equal(w.s.peers[0].sign, sign);
	session_failure_reason(&w.s, 0, why);
	assert_non_null(strstr(why, words));
}

static void signs_are_told_apart(void **state)
{
	(void)state;
	world_open(1);
	w.c[0].deaf = true;
	pass(SECOND_NS / 2);
	why_is(SESSION_NOTHING, "no answer");
	w.c[0].deaf = false;
	w.c[0].answers_requests_only = true;
	pass(2 * SECOND_NS);
	pass(SECOND_NS / 2);
	why_is(SESSION_REQUEST_ANSWERED, "in its --sensors file");
	w.c[0].answers_requests_only = false;
	w.c[0].clock_ns = 0;
	w.c[0].is_busy = true;
	pass(2 * SECOND_NS);
	pass(SECOND_NS / 2);
	why_is(SESSION_KEY_IN_USE, "another machine");
	assert_false(session_use(&w.s, &w.path));
	w.c[0].is_busy = false;
	w.c[0].is_old = true;
	pass(2 * SECOND_NS);
	pass(SECOND_NS / 2);
	why_is(SESSION_OTHER_VERSION, "upgrade");
	assert_false(session_use(&w.s, &w.path));
	w.c[0].is_old = false;
	pass_until_up(2000);
	export_totals_like();
	settle();
	collector_ack(&w.c[0], 0);
	settle();
	assert_int_equal(w.s.peers[0].sign, SESSION_NOTHING);
	world_close();
}

/* A collector that its supervisor restarts again and again does not fill the log. */
static void each_reason_is_told_once(void **state)
{
	struct session_peer *p = &w.s.peers[0];

	(void)state;
	world_open(1);
	for (enum session_sign sign = SESSION_NOTHING; sign <= SESSION_OTHER_VERSION; sign++) {
		p->sign = sign;
		assert_false(session_failure_reason_is_told(&w.s, 0));
		session_tell_asking(&w.s, 0);
		assert_true(session_failure_reason_is_told(&w.s, 0));
	}
	p->sign = SESSION_PORT_CLOSED;
	assert_true(session_failure_reason_is_told(&w.s, 0));
	pass(0);
	pass_until_up(2000);
	export_totals_like();
	settle();
	collector_ack(&w.c[0], 0);
	settle();
	p->sign = SESSION_PORT_CLOSED;
	assert_false(session_failure_reason_is_told(&w.s, 0)); /* it has answered since */
	world_close();
}

static void a_closed_port_is_told(void **state)
{
	(void)state;
	world_open(1);
	close(w.c[0].sock);
	w.c[0].sock = 0;
	pass(0);
	pass(SECOND_NS / 100);
	why_is(SESSION_PORT_CLOSED, "nothing listens");
	world_close();
}

static void preshared_keys_must_be_the_same(void **state)
{
	uint8_t psk[KEY_LEN] = { 1 };

	(void)state;
	world_open(1);
	assert_int_equal(tryst_pair(w.c[0].pair, &w.c[0].own, w.sensor.public, false, psk), 0);
	pass(0);
	assert_false(session_use(&w.s, &w.path));
	assert_int_equal(w.c[0].strange, 1); /* the m1 */
	assert_int_equal(
		tryst_pair(w.s.peers[0].keys[0].pair, &w.sensor, w.c[0].own.public, true, psk), 0);
	pass_until_up(2000);
	world_close();
}

static void padded(void **state)
{
	(void)state;
	world_open(1);
	w.s.pad = true;
	w.sensor_clock_ns = -TODAY_NS;
	pass_until_up(3000);
	assert_true(w.path.padded);
	assert_int_equal(w.c[0].shortest, SHROUD_DATAGRAM_PADDED);
	assert_int_equal(w.c[0].longest, SHROUD_DATAGRAM_PADDED);
	assert_int_equal(w.c[0].answer_len, SHROUD_DATAGRAM_PADDED);
	assert_int_equal(w.c[0].requests, 1);
	world_close();
}

/* ---- two keys of a collector ----------------------------------------------------------------- */

/* A collector at its place, with a new key. Returns the key as an order's. */
static void collector_rekey(struct collector *c)
{
	key_generate(c->own.secret);
	assert_int_equal(key_public(c->own.public, c->own.secret), 0);
	assert_int_equal(tryst_pair(c->pair, &c->own, w.sensor.public, false, NULL), 0);
	request_keys_init(&c->request_keys, c->own.public);
	shroud_rx_free(&c->rx, &c->table);
}

static void keys_of(struct order_keys *k, const uint8_t *a, const uint8_t *b)
{
	k->count = b ? 2 : 1;
	memcpy(k->key[0], a, KEY_LEN);
	if (b)
		memcpy(k->key[1], b, KEY_LEN);
}

static int order_keys(const uint8_t *a, const uint8_t *b)
{
	struct order_keys k;
	char said[128];

	keys_of(&k, a, b);
	return session_keys_order(&w.s, &k, said, sizeof(said));
}

static void keys_file(char path[32])
{
	strcpy(path, "/tmp/saluki-keys.XXXXXX");
	close(mkstemp(path));
	assert_int_equal(session_keys_open(&w.s.keys_file, path), 0);
}

/* The collector does not answer any more, and the sensor asks for a session. */
static void until_silent(void)
{
	unsigned int generation = w.path.generation;

	export_totals_like();
	pass(SESSION_SILENCE_NS + 1);
	assert_true(!session_use(&w.s, &w.path) || w.path.generation > generation);
}

static void the_next_key_is_tried_too(void **state)
{
	struct keypair next;
	struct order_keys k;

	(void)state;
	world_open(1);
	key_generate(next.secret);
	key_public(next.public, next.secret);
	keys_of(&k, w.c[0].own.public, next.public);
	assert_int_equal(session_keys_set(&w.s, 0, &k), 0);
	up();
	collector_ack(&w.c[0], 0);
	settle();
	assert_non_null(strstr((char *)w.c[0].hello.info, "trusts="));
	assert_int_equal(w.s.peers[0].key, 0);
	w.c[0].own = next;
	tryst_pair(w.c[0].pair, &next, w.sensor.public, false, NULL);
	request_keys_init(&w.c[0].request_keys, next.public);
	shroud_rx_free(&w.c[0].rx, &w.c[0].table);
	until_silent();
	assert_true(pass_until_up(3000) <= 1500); /* the second attempt */
	collector_ack(&w.c[0], 0);
	settle();
	assert_int_equal(w.s.peers[0].key, 1);
	shroud_rx_free(&w.c[0].rx, &w.c[0].table);
	until_silent();
	assert_int_equal(pass_until_up(3000), 0); /* at once: it was the last that answered */
	world_close();
}

static void ordered_keys_last(void **state)
{
	uint8_t old[KEY_LEN];
	char path[32];

	(void)state;
	world_open(2);
	keys_file(path);
	up();
	collector_ack(&w.c[0], 0);
	settle();
	memcpy(old, w.c[0].own.public, KEY_LEN);
	collector_rekey(&w.c[0]);
	assert_int_equal(order_keys(w.c[0].own.public, old), 0);
	until_silent();
	pass_until_up(1000); /* with the first of the two */
	collector_ack(&w.c[0], 0);
	settle();
	assert_int_equal(w.s.peers[0].key, 0);
	assert_int_equal(order_keys(w.c[0].own.public, NULL), 0);
	assert_int_equal(w.s.peers[0].key_count, 1);
	assert_memory_equal(w.s.peers[0].keys[0].public, w.c[0].own.public, KEY_LEN);
	assert_memory_equal(w.s.peers[1].keys[0].public, w.c[1].own.public, KEY_LEN);
	/* As another process, with the same key file. */
	assert_int_equal(
		session_keys_set(&w.s, 0, &(struct order_keys){ .count = 1, .key = { { 9 } } }), 0);
	session_keys_load(&w.s);
	assert_memory_equal(w.s.peers[0].keys[0].public, w.c[0].own.public, KEY_LEN);
	assert_int_equal(w.s.peers[1].key_count, 1);
	/* With another key file, the order does not count. */
	w.s.peers[0].first[0]++;
	assert_int_equal(
		session_keys_set(&w.s, 0, &(struct order_keys){ .count = 1, .key = { { 9 } } }), 0);
	session_keys_load(&w.s);
	assert_int_equal(w.s.peers[0].keys[0].public[0], 9);
	unlink(path);
	world_close();
}

static void orders_of_keys_that_are_refused(void **state)
{
	static const uint8_t zeros[KEY_LEN], low[KEY_LEN] = { 1 };
	const uint8_t *present;
	struct keypair other;
	struct stat st;
	char path[32];

	(void)state;
	world_open(1);
	keys_file(path);
	key_generate(other.secret);
	key_public(other.public, other.secret);
	present = w.c[0].own.public;
	up();
	assert_int_equal(order_keys(present, zeros), -EINVAL);
	assert_int_equal(order_keys(low, present), -EINVAL);
	assert_int_equal(order_keys(present, w.sensor.public), -EINVAL);
	assert_int_equal(order_keys(other.public, NULL), -EINVAL);
	assert_int_equal(order_keys(present, NULL), 0); /* it has only that */
	assert_int_equal(fstat(w.s.keys_file.fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(w.s.peers[0].key_count, 1);
	close(w.s.keys_file.fd);
	w.s.keys_file.fd = open("/dev/full", O_WRONLY);
	assert_true(order_keys(present, other.public) < 0);
	assert_int_equal(w.s.peers[0].key_count, 1);
	unlink(path);
	world_close();
}

/* Torn lines, other words, and a file that became too long. */
static void the_file_of_keys(void **state)
{
	char path[32], line[400], key[KEY_TEXT_LEN];
	struct keypair other;
	struct stat st;

	(void)state;
	world_open(1);
	keys_file(path);
	up();
	key_generate(other.secret);
	key_public(other.public, other.secret);
	key_to_text(key, w.c[0].own.public);
	snprintf(line, sizeof(line), "x\n\n%s %s\n%s %s %s %s %s\n%s %s %s", w.s.peer, key,
		 w.s.peer, key, key, key, key, w.s.peer, key, key);
	assert_int_equal(pwrite(w.s.keys_file.fd, line, strlen(line), 0), strlen(line));
	session_keys_load(&w.s);
	assert_int_equal(w.s.peers[0].key_count, 1);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(order_keys(w.c[0].own.public, other.public), 0);
		assert_int_equal(order_keys(other.public, w.c[0].own.public), 0);
		fstat(w.s.keys_file.fd, &st);
		assert_true(st.st_size < SESSION_KEYS_FILE_MAX + 1000);
	}
	assert_true(st.st_size < SESSION_KEYS_FILE_MAX);
	session_keys_load(&w.s);
	assert_memory_equal(w.s.peers[0].keys[0].public, other.public, KEY_LEN);
	assert_int_equal(w.s.peers[0].key_count, 2);
	unlink(path);
	world_close();
}

/* ---- the time -------------------------------------------------------------------------------- */

static void a_clock_of_1970_asks(void **state)
{
	(void)state;
	world_open(1);
	w.sensor_clock_ns = -TODAY_NS;
	pass(0);
	assert_int_equal(w.c[0].requests, 1);
	assert_true(session_use(&w.s, &w.path)); /* at once, without another wait */
	assert_true(session_time(&w.s, 0, w.now_ns) == world_time());
	w.sensor_clock_ns = 0; /* set by the user during the session: the protocol's time stays */
	assert_true(session_time(&w.s, 0, w.now_ns) == world_time());
	world_close();
}

static void clocks_off_by_90_s_need_no_request(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		world_open(1);
		w.sensor_clock_ns = sign * 90 * (int64_t)SECOND_NS;
		up();
		assert_int_equal(w.c[0].requests, 0);
		assert_true(session_time(&w.s, 0, w.now_ns) == world_time());
		world_close();
	}
}

static void a_clock_off_by_an_hour_asks_when_nobody_answers(void **state)
{
	(void)state;
	world_open(1);
	w.sensor_clock_ns = 3600 * SECOND_NS;
	pass(0);
	assert_int_equal(w.c[0].requests, 0);
	assert_true(pass_until_up(9000) < 500);
	assert_int_equal(w.c[0].requests, 1);
	assert_int_equal(w.c[0].strange, 2); /* the m1, and the request with a wrong date */
	world_close();
}

/* ---- a session that is up -------------------------------------------------------------------- */

/* Delayed until the session is up, it would set the clock back. */
static void a_clock_answer_behind_the_welcome_is_late(void **state)
{
	(void)state;
	world_open(1);
	w.c[0].keeps_answer = w.c[0].knows_no_slot = true;
	pass(0);
	pass(SESSION_REQUEST_NS);
	assert_int_equal(w.c[0].requests, 1);
	w.c[0].knows_no_slot = false;
	pass_until_up(3000);
	pass(3600 * SECOND_NS);
	collector_send(&w.c[0], w.c[0].kept, w.c[0].kept_len);
	settle();
	assert_true(session_time(&w.s, 0, w.now_ns) == world_time());
	assert_int_equal(w.s.bad_datagrams, 1);
	world_close();
}

static void acks_come_to_the_export_thread(void **state)
{
	struct ack ack;

	(void)state;
	world_open(1);
	up();
	export_totals_like();
	settle();
	collector_ack(&w.c[0], 17);
	collector_ack(&w.c[0], 18);
	settle();
	assert_false(session_ack(&w.s, w.path.generation - 1, &ack));
	assert_true(session_ack(&w.s, w.path.generation, &ack));
	assert_int_equal(ack.settled, 17);
	assert_true(session_ack(&w.s, w.path.generation, &ack));
	assert_int_equal(ack.settled, 18);
	assert_false(session_ack(&w.s, w.path.generation, &ack));
	for (int i = 0; i < SESSION_ACKS + 3; i++)
		collector_ack(&w.c[0], i);
	settle();
	assert_true(session_ack(&w.s, w.path.generation, &ack));
	assert_int_equal(ack.settled, 3); /* the oldest was evicted */
	world_close();
}

static void silence_ends_a_session(void **state)
{
	(void)state;
	world_open(1);
	up();
	pass(100 * SECOND_NS); /* nothing was sent: no silence */
	assert_true(session_use(&w.s, &w.path));
	export_totals_like();
	settle();
	pass(SECOND_NS * 2);
	collector_ack(&w.c[0], 0);
	settle();
	export_totals_like();
	pass(SECOND_NS * 2);
	assert_true(session_use(&w.s, &w.path));
	w.c[0].deaf = true;
	pass(SECOND_NS * 11 / 10);
	assert_false(session_use(&w.s, &w.path));
	w.c[0].deaf = false;
	pass_until_up(10000);
	assert_int_equal(w.path.generation, 2);
	world_close();
}

static void a_refusal_shortens_silence(void **state)
{
	(void)state;
	world_open(1);
	up();
	export_totals_like();
	session_refused(&w.s);
	w.c[0].deaf = true;
	pass(SECOND_NS / 2);
	assert_true(session_use(&w.s, &w.path));
	pass(SECOND_NS);
	assert_false(session_use(&w.s, &w.path));
	world_close();
}

/* Refusals are not authentic: however many come, none ends a session at once. */
static void many_refusals_are_as_one(void **state)
{
	(void)state;
	world_open(1);
	up();
	export_totals_like();
	for (int i = 0; i < 10; i++)
		session_refused(&w.s);
	w.c[0].deaf = true;
	pass(SECOND_NS / 2);
	assert_true(session_use(&w.s, &w.path));
	pass(SECOND_NS);
	assert_false(session_use(&w.s, &w.path));
	world_close();
}

static void heard_is_said_each_8(void **state)
{
	(void)state;
	world_open(1);
	up();
	export();
	settle();
	w.c[0].message_len = 0;
	for (int i = 0; i < 7; i++)
		collector_ack(&w.c[0], 0);
	settle();
	assert_int_equal(export(), 0);
	collector_ack(&w.c[0], 0);
	settle();
	assert_int_equal(export(), 1);
	settle();
	assert_int_equal(w.c[0].message_len, MESSAGE_HEARD_LEN);
	assert_int_equal(w.c[0].message[0], MESSAGE_HEARD);
	assert_int_equal(load_be(w.c[0].message + 1, 8), 8);
	world_close();
}

static void a_challenge_is_echoed(void **state)
{
	uint8_t challenge[MESSAGE_CHALLENGE_LEN] = { MESSAGE_CHALLENGE, 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	world_open(1);
	up();
	export();
	settle();
	collector_say(&w.c[0], challenge, sizeof(challenge));
	settle();
	assert_int_equal(export(), 1);
	settle();
	assert_int_equal(w.c[0].message[0], MESSAGE_ECHO);
	assert_memory_equal(w.c[0].message + 1, challenge + 1, 8);
	world_close();
}

static void a_change_is_told_ten_times(void **state)
{
	unsigned int told = 0;

	(void)state;
	world_open(1);
	up();
	w.s.info.interfaces[0].snaplen = 96;
	w.s.info.count = 1;
	session_info_changed(&w.s);
	for (int i = 0; i < 20; i++) {
		pass(SECOND_NS);
		w.c[0].message_len = 0;
		export();
		collector_ack(&w.c[0], 0);
		settle();
		told += w.c[0].message_len > 0 && w.c[0].message[0] == MESSAGE_INFO;
	}
	assert_int_equal(w.s.info_due, 0);
	assert_true(told > 0);
	world_close();
}

static uint64_t ordered;
static char order_text[32];

static void take_order(void *arg, uint64_t number, const char *text, size_t len)
{
	assert_ptr_equal(arg, &w);
	ordered = number;
	snprintf(order_text, sizeof(order_text), "%.*s", (int)len, text);
	session_answer(&w.s, number, 0, "snaplen is 96");
}

static void orders_are_answered(void **state)
{
	uint8_t order[32] = { MESSAGE_ORDER };

	(void)state;
	world_open(1);
	up();
	store_be(order + 1, 12345, 8);
	memcpy(order + 9, "set snaplen 96", 14);
	collector_say(&w.c[0], order, 9 + 14);
	settle();
	assert_int_equal(w.s.bad_datagrams, 1); /* no session takes them */
	w.s.order = take_order;
	w.s.order_arg = &w;
	export();
	settle();
	collector_say(&w.c[0], order, 9 + 14);
	settle();
	assert_int_equal(ordered, 12345);
	assert_string_equal(order_text, "set snaplen 96");
	assert_int_equal(export(), 1);
	settle();
	assert_int_equal(w.c[0].message[0], MESSAGE_ANSWER);
	assert_int_equal(load_be(w.c[0].message + 1, 8), 12345);
	assert_memory_equal(w.c[0].message + 10, "snaplen is 96", w.c[0].message_len - 10);
	world_close();
}

/* The collector's clock is 5 s ahead and is not corrected. The ways take 20 and 40 ms. */
static void probes_measure(void **state)
{
	uint8_t probed[MESSAGE_PROBED_LEN] = { MESSAGE_PROBED };
	uint64_t t1, ahead = 5 * SECOND_NS;

	(void)state;
	world_open(1);
	w.c[0].clock_ns = ahead;
	up();
	assert_int_equal(export(), 1);
	settle();
	assert_int_equal(w.c[0].message[0], MESSAGE_PROBE);
	t1 = load_be(w.c[0].message + 1, 8);
	memcpy(probed + 1, w.c[0].message + 1, 8);
	store_be(probed + 9, t1 + 20000000 + ahead, 8);
	store_be(probed + 17, t1 + 21000000 + ahead, 8);
	w.now_ns += 61000000;
	collector_say(&w.c[0], probed, sizeof(probed));
	session_receive(&w.s, w.now_ns);
	assert_true(w.s.round_trip_ns == 60000000);
	assert_true(w.s.offset_ns == (int64_t)ahead - 10000000);
	assert_int_equal(w.s.info.round_trip_us, 60000);
	assert_int_equal(w.s.info.ahead_us, 0);
	assert_int_equal(w.s.info.behind_us, 4990000);
	w.now_ns += 20 * SECOND_NS; /* an old answer has no effect */
	collector_say(&w.c[0], probed, sizeof(probed));
	session_receive(&w.s, w.now_ns);
	assert_true(w.s.round_trip_ns == 60000000);
	world_close();
}

/* The answer to a probe that was sent `ns` ago, by a collector whose clock is `ahead_ns` ahead. */
static void say_probed(uint64_t ns, uint64_t ahead_ns)
{
	uint8_t probed[MESSAGE_PROBED_LEN] = { MESSAGE_PROBED };

	store_be(probed + 1, world_time() - ns, 8);
	store_be(probed + 9, world_time() - ns / 2 + ahead_ns, 8);
	store_be(probed + 17, world_time() - ns / 2 + ahead_ns, 8);
	collector_say(&w.c[0], probed, sizeof(probed));
	settle();
}

static int64_t ahead_ns(void)
{
	int64_t ahead;

	assert_int_not_equal(session_measured(&w.s, w.now_ns, &ahead), 0);
	return ahead;
}

/* A longer round trip replaces a shorter one after some time, as the clocks drift. If the sensor's
 * clock is set, the offset follows at once. */
static void an_offset_follows_the_clocks(void **state)
{
	int64_t none;

	(void)state;
	world_open(1);
	up();
	assert_int_equal(session_measured(&w.s, w.now_ns, &none), 0);
	say_probed(1000000, 5000000);
	assert_int_equal(w.s.round_trip_ns, 1000000);
	assert_int_equal(ahead_ns(), -5000000);
	say_probed(1500000, 6000000);
	assert_int_equal(ahead_ns(), -5000000);
	w.now_ns += 6 * SECOND_NS;
	assert_int_equal(ahead_ns(), -5000000);
	say_probed(1500000, 6000000);
	assert_int_equal(w.s.round_trip_ns, 1500000);
	assert_int_equal(ahead_ns(), -6000000);
	w.sensor_clock_ns += 3600 * (int64_t)SECOND_NS;
	assert_true(ahead_ns() == 3600 * (int64_t)SECOND_NS - 6000000);
	world_close();
}

/* ---- renewal --------------------------------------------------------------------------------- */

static void answer_renewal(struct collector *c, const struct keypair *e)
{
	uint8_t renewed[MESSAGE_RENEWED_LEN] = { MESSAGE_RENEWED };

	assert_int_equal(c->message_len, MESSAGE_RENEW_LEN);
	assert_int_equal(c->message[0], MESSAGE_RENEW);
	memcpy(renewed + 1, c->message + 1, KEY_LEN);
	memcpy(renewed + 1 + KEY_LEN, e->public, KEY_LEN);
	collector_say(c, renewed, sizeof(renewed));
}

/* A clock in 1970 is reported too, though the protocol's time is right. */
static void the_machines_clock_is_told(void **state)
{
	uint8_t probed[MESSAGE_PROBED_LEN] = { MESSAGE_PROBED };

	(void)state;
	world_open(1);
	w.sensor_clock_ns = -3600 * (int64_t)SECOND_NS;
	pass_until_up(4000);
	for (int i = 0; i < 3; i++) /* a round trip of no time */
		store_be(probed + 1 + 8 * i, world_time(), 8);
	collector_say(&w.c[0], probed, sizeof(probed));
	settle();
	assert_int_equal(w.s.info.round_trip_us, 1); /* 0: not known */
	assert_int_equal(w.s.info.behind_us, 3600 * 1000000ULL);
	assert_int_equal(w.s.info.ahead_us, 0);
	world_close();
}

static void a_session_is_renewed(void **state)
{
	struct collector *c = &w.c[0];
	struct sockaddr_in old_from;
	struct shroud_tx old_tx;
	uint8_t k2[KEY_LEN], sensor_e[KEY_LEN], out[SHROUD_DATAGRAM_MAX], none[KEY_LEN] = { 0 };
	uint8_t old[ACK_LEN] = { MESSAGE_ACK };
	struct keypair e;

	(void)state;
	world_open(1);
	w.s.renew_ns = 20 * SECOND_NS;
	up();
	export();
	settle();
	collector_ack(c, 0);
	settle();
	old_from = c->from;
	w.now_ns += 20 * SECOND_NS;
	for (int i = 0; i < 3; i++) { /* repeated, with the same key */
		w.s.next_probe_ns = UINT64_MAX;
		pass(SECOND_NS);
		assert_int_equal(export(), 1);
		settle();
		assert_int_equal(c->message[0], MESSAGE_RENEW);
		if (i)
			assert_memory_equal(sensor_e, c->message + 1, KEY_LEN);
		memcpy(sensor_e, c->message + 1, KEY_LEN);
		collector_ack(c, 0);
		settle();
	}
	tryst_ephemeral(&e, c->own.secret, 1);
	answer_renewal(c, &e);
	answer_renewal(c, &e);
	old_tx = c->tx;
	settle();
	assert_true(session_use(&w.s, &w.path));
	assert_int_equal(w.path.generation, 2);
	assert_int_equal(w.path.window, WINDOW);
	assert_int_equal(w.s.bad_datagrams, 0);
	assert_memory_equal(w.s.renewal.secret, none, KEY_LEN);
	assert_int_equal(tryst_renew(k2, c->chain, &e, sensor_e, false), 0);
	collector_keys(c, k2);
	export_totals_like();
	settle();
	assert_int_equal(c->message[0], MESSAGE_TOTALS);
	assert_int_not_equal(old_from.sin_port, c->from.sin_port);
	collector_ack(c, 0);
	settle();
	/* For 10 seconds, datagrams under way in the old session are still taken. */
	c->from = old_from;
	collector_send(c, out, shroud_seal(&old_tx, out, old, sizeof(old), 0));
	settle();
	assert_int_equal(w.s.bad_datagrams, 0);
	pass(11 * SECOND_NS);
	assert_int_equal(!!w.s.links[0].generation + !!w.s.links[1].generation, 1);
	world_close();
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void forged_and_replayed(void **state)
{
	uint8_t junk[1500], ack[SHROUD_DATAGRAM_MAX], message[ACK_LEN] = { MESSAGE_ACK };
	struct collector *c = &w.c[0];
	struct ack taken;
	size_t len;

	(void)state;
	world_open(1);
	up();
	collector_send(c, c->answer, c->answer_len); /* again */
	settle();
	assert_int_equal(w.s.bad_datagrams, 1);
	for (size_t n = 0; n < sizeof(junk); n += 7) {
		randombytes_buf(junk, sizeof(junk));
		collector_send(c, junk, n);
		settle();
	}
	assert_int_equal(w.s.bad_datagrams, 1 + (sizeof(junk) + 6) / 7);
	len = shroud_seal(&c->tx, ack, message, sizeof(message), 0);
	for (size_t i = 8; i < len; i++) { /* the right address, one bit wrong */
		ack[i] ^= 1;
		collector_send(c, ack, len);
		ack[i] ^= 1;
	}
	settle();
	assert_false(session_ack(&w.s, w.path.generation, &taken));
	collector_send(c, ack, len);
	collector_send(c, ack, len);
	settle();
	assert_true(session_ack(&w.s, w.path.generation, &taken));
	assert_false(session_ack(&w.s, w.path.generation, &taken));
	assert_true(session_use(&w.s, &w.path));
	world_close();
}

/* The zeros of a handshake that was never sent are no keys. */
static void nothing_is_answered_that_was_not_asked(void **state)
{
	struct tryst_asked zeros = { 0 };
	struct tryst_welcome welcome = { 0 };
	uint8_t forged[TRYST_ANSWER_MIN] = { 0 }, message[TRYST_WELCOME_LEN] = { 9 }, key[KEY_LEN];
	uint8_t k2[KEY_LEN];

	(void)state;
	world_open(1);
	w.c[0].deaf = true;
	for (uint64_t i = world_time() / TRYST_INTERVAL_NS - 1, end = i + 3; i < end; i++) {
		w.s.peers[0].keys[0].slots[i % 3].interval = i;
		w.s.peers[0].keys[0].slots[i % 3].used = UINT32_MAX;
	}
	pass(0);
	derive(key, zeros.k1, "answer", forged + 8, DERIVE_FRESH_LEN, NULL, 0);
	derive_seal(key, 0, forged + 8 + DERIVE_FRESH_LEN, message, sizeof(message));
	assert_int_equal(tryst_finish(&zeros, &w.sensor, &welcome, k2, forged, sizeof(forged)), 0);
	session_receive_datagram(&w.s, forged, sizeof(forged), w.now_ns);
	assert_false(session_use(&w.s, &w.path));
	assert_int_equal(w.s.bad_datagrams, 1);
	world_close();
}

/* ---- several collectors ---------------------------------------------------------------------- */

static void another_collector_is_gone_to_and_back(void **state)
{
	(void)state;
	world_open(2);
	w.c[0].deaf = true;
	assert_in_range(pass_until_up(20000), 3000, 4500);
	assert_int_equal(w.c[1].set_ups, 1);
	assert_string_equal(w.s.peer, w.s.peers[1].address.name);
	for (int i = 0; i < 70; i++) { /* two tries meanwhile */
		pass(SECOND_NS);
		export();
		settle();
		collector_ack(&w.c[1], 0);
		settle();
	}
	assert_true(session_use(&w.s, &w.path));
	assert_int_equal(w.path.generation, 1);
	w.c[0].deaf = false;
	for (int i = 0; i < 31; i++) {
		pass(SECOND_NS);
		if (w.s.present->peer != 1)
			break;
		export();
		settle();
		collector_ack(&w.c[1], 0);
		settle();
	}
	assert_int_equal(w.s.present->peer, 0);
	assert_true(session_use(&w.s, &w.path));
	assert_int_equal(w.path.generation, 2);
	world_close();
}

static void neither_answers_and_then_the_second(void **state)
{
	(void)state;
	world_open(2);
	w.c[0].deaf = w.c[1].deaf = true;
	for (int i = 0; i < 60; i++)
		pass(SECOND_NS);
	w.c[1].deaf = false;
	pass_until_up(21000);
	assert_int_equal(w.s.present->peer, 1);
	world_close();
}

/* It completes the handshake, and then sends nothing. */
static void one_that_only_answers_set_ups_is_left(void **state)
{
	(void)state;
	world_open(2);
	for (int i = 0; i < 60 && !w.c[1].set_ups; i++) {
		pass(SECOND_NS / 2);
		if (session_use(&w.s, &w.path))
			export_totals_like();
	}
	assert_int_equal(w.c[1].set_ups, 1);
	world_close();
}

static void one_that_grants_no_window_is_left(void **state)
{
	(void)state;
	world_open(2);
	w.c[0].window = SHROUD_WINDOW_MIN - 1;
	assert_in_range(pass_until_up(20000), 3000, 4500);
	assert_int_equal(w.s.present->peer, 1);
	world_close();
}

/* Times that change with each answer, and no other message. */
static void one_that_only_tells_the_time_is_left(void **state)
{
	(void)state;
	world_open(2);
	w.c[0].deaf = true;
	w.c[1].answers_requests_only = true;
	for (int i = 0; i < 60; i++)
		pass(SECOND_NS);
	assert_in_range(w.c[1].requests, 1, 20);
	w.c[0].deaf = false;
	pass_until_up(21000);
	assert_int_equal(w.s.present->peer, 0);
	world_close();
}

/* One collector's datagrams under way do not count as the other's. */
static void orders_of_another_collector_are_not_taken(void **state)
{
	uint8_t order[] = "\x13\xff\xff\xff\xff\xff\xff\xff\xffset snaplen 96";

	(void)state;
	world_open(2);
	w.s.order = take_order;
	w.s.order_arg = &w;
	w.c[0].deaf = true;
	pass_until_up(20000);
	w.c[0].deaf = false;
	for (int i = 0; i < 31 && w.s.present->peer; i++)
		pass(SECOND_NS);
	assert_int_equal(w.s.present->peer, 0);
	ordered = 0;
	collector_say(&w.c[1], order, sizeof(order) - 1);
	settle();
	assert_int_equal(ordered, 0);
	collector_say(&w.c[0], order, sizeof(order) - 1);
	settle();
	assert_true(ordered == UINT64_MAX);
	world_close();
}

static int group_setup(void **state)
{
	(void)state;
	return keys_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_set_up),
		cmocka_unit_test(the_first_answers_are_lost),
		cmocka_unit_test(attempts_become_rare),
		cmocka_unit_test(set_ups_differ_in_slot_and_port),
		cmocka_unit_test(what_is_not_answered_soon_is_asked_about),
		cmocka_unit_test(a_slow_path_answers_both_requests),
		cmocka_unit_test(signs_are_told_apart),
		cmocka_unit_test(each_reason_is_told_once),
		cmocka_unit_test(a_closed_port_is_told),
		cmocka_unit_test(the_next_key_is_tried_too),
		cmocka_unit_test(ordered_keys_last),
		cmocka_unit_test(orders_of_keys_that_are_refused),
		cmocka_unit_test(the_file_of_keys),
		cmocka_unit_test(preshared_keys_must_be_the_same),
		cmocka_unit_test(padded),
		cmocka_unit_test(a_clock_of_1970_asks),
		cmocka_unit_test(clocks_off_by_90_s_need_no_request),
		cmocka_unit_test(a_clock_off_by_an_hour_asks_when_nobody_answers),
		cmocka_unit_test(a_clock_answer_behind_the_welcome_is_late),
		cmocka_unit_test(acks_come_to_the_export_thread),
		cmocka_unit_test(silence_ends_a_session),
		cmocka_unit_test(a_refusal_shortens_silence),
		cmocka_unit_test(many_refusals_are_as_one),
		cmocka_unit_test(heard_is_said_each_8),
		cmocka_unit_test(a_challenge_is_echoed),
		cmocka_unit_test(a_change_is_told_ten_times),
		cmocka_unit_test(orders_are_answered),
		cmocka_unit_test(probes_measure),
		cmocka_unit_test(an_offset_follows_the_clocks),
		cmocka_unit_test(the_machines_clock_is_told),
		cmocka_unit_test(a_session_is_renewed),
		cmocka_unit_test(forged_and_replayed),
		cmocka_unit_test(nothing_is_answered_that_was_not_asked),
		cmocka_unit_test(another_collector_is_gone_to_and_back),
		cmocka_unit_test(neither_answers_and_then_the_second),
		cmocka_unit_test(one_that_only_answers_set_ups_is_left),
		cmocka_unit_test(one_that_grants_no_window_is_left),
		cmocka_unit_test(one_that_only_tells_the_time_is_left),
		cmocka_unit_test(orders_of_another_collector_are_not_taken),
	};

	return cmocka_run_group_tests_name("session", tests, group_setup, NULL);
}
