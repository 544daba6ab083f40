// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/one_way.o agent/export/session.o agent/export/session_keys.o
 * agent/export/session_link.o agent/export/instance.o agent/export/handshake.o
 * agent/export/handshake_answer.o agent/export/failure_reason.o agent/export/handshake_slots.o
 * agent/export/session_receive.o agent/export/session_mailbox.o agent/export/sockets.o
 * agent/export/deliver.o agent/export/deliver_send.o agent/export/deliver_receive.o
 * agent/export/in_flight.o agent/export/in_flight_window.o agent/export/session_send.o
 * agent/export/store.o agent/capture/queue.o agent/source/clock.o wire/tryst.o wire/shroud.o
 * wire/table.o wire/derive.o wire/keys.o wire/request.o wire/info.o wire/combo.o wire/columns.o
 * wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o wire/tails.o wire/fields.o */
/* One way: what a sensor says that hears nothing, when, and at what pace. */
#include "unit.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/export/one_way.h"
#include "wire/combo.h"

#define SECOND_NS 1000000000ULL
#define MS 1000000ULL
#define START_NS (14000000ULL * TRYST_INTERVAL_NS) /* the first slot of an interval, in 2023 */
#define COMBO_LEN 4000

static struct {
	struct session s;
	struct deliver d;
	struct one_way o;
	struct saluki_exported counters;
	uint64_t now_ns, clock_ns;
	__u64 exported;
	struct keypair sensor, collector;
	uint8_t pair[KEY_LEN];
	int sock;
	/* what the collector has received */
	struct table table;
	struct shroud_rx rx;
	uint8_t ephemeral[KEY_LEN]; /* of `rx`'s session */
	struct tryst_hello hello;   /* the last one */
	uint64_t slot;		    /* its slot, counted since 1970 */
	unsigned int m1s, sessions, strange;
	uint64_t kinds[256], highest;
	uint64_t combos[256]; /* pieces received per combo */
} w;

static uint64_t sensor_time(void)
{
	return w.clock_ns;
}

/* ---- a collector ----------------------------------------------------------------------------- */

static bool take_m1(const uint8_t *in, size_t len)
{
	uint64_t slots[TRYST_SLOTS], at = w.clock_ns / TRYST_INTERVAL_NS;
	uint8_t k2[KEY_LEN], chain[KEY_LEN];
	struct shroud_keys up, down;
	bool known = false;

	for (uint64_t i = at - 1; i <= at + 1 && !known; i++) {
		tryst_slots(slots, w.pair, i);
		for (int j = 0; j < TRYST_SLOTS && !known; j++) {
			known = slots[j] == load_word(in);
			w.slot = i * TRYST_SLOTS + j;
		}
	}
	if (!known || tryst_accept(&w.hello, w.pair, in, len))
		return false;
	w.m1s++;
	if (memcmp(w.ephemeral, w.hello.ephemeral, KEY_LEN)) {
		assert_int_equal(tryst_one_way(k2, w.pair, &w.hello, w.collector.secret,
					       w.hello.ephemeral),
				 0);
		tryst_session(k2, &up, &down, chain);
		shroud_rx_free(&w.rx, &w.table);
		assert_int_equal(shroud_rx_init(&w.rx, &w.table, &up, 1, w.hello.window), 0);
		memcpy(w.ephemeral, w.hello.ephemeral, KEY_LEN);
		w.sessions++;
	}
	shroud_rx_move(&w.rx, &w.table, w.hello.next);
	return true;
}

static bool take_data(const uint8_t *in, size_t len)
{
	const struct table_entry *e = table_find(&w.table, load_word(in), NULL);
	uint8_t message[SHROUD_DATAGRAM_MAX];
	struct piece p = { 0 };
	uint64_t number;

	if (!e || shroud_open(&w.rx, &w.table, e->low, &number, message, in, len) <= 0)
		return false;
	w.kinds[message[0]]++;
	w.highest = number;
	if (message[0] == MESSAGE_COMBO) {
		assert_int_equal(piece_read(&p, message, len - SHROUD_OVERHEAD), 0);
		w.combos[p.combo % 256]++;
	}
	return true;
}

/* Returns the number of datagrams received. */
static unsigned int collect(void)
{
	uint8_t in[2000];
	unsigned int n = 0;
	ssize_t len;

	for (; (len = recv(w.sock, in, sizeof(in), MSG_DONTWAIT)) > 0; n++) {
		assert_true(len <= SHROUD_DATAGRAM_PADDED);
		if (!take_data(in, len) && !take_m1(in, len))
			w.strange++;
	}
	return n;
}

/* ---- the world ------------------------------------------------------------------------------- */

static int begin(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	struct keys_peers peers = { .count = 1 };
	struct sockets_name to = { .host = "127.0.0.1" };
	char port[8];

	(void)state;
	memset(&w, 0, sizeof(w));
	key_generate(w.sensor.secret);
	key_generate(w.collector.secret);
	key_public(w.sensor.public, w.sensor.secret);
	key_public(w.collector.public, w.collector.secret);
	assert_int_equal(tryst_pair(w.pair, &w.collector, w.sensor.public, false, NULL), 0);
	assert_int_equal(table_init(&w.table, 5000), 0);
	w.sock = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(w.sock, (struct sockaddr *)&at, sizeof(at)), 0);
	getsockname(w.sock, (struct sockaddr *)&at, &len);
	snprintf(port, sizeof(port), "%u", ntohs(at.sin_port));
	to.port = port;
	memcpy(peers.peer[0].public, w.collector.public, KEY_LEN);
	assert_int_equal(session_init(&w.s, &to, 1, &w.sensor, &peers), 0);
	w.s.realtime_ns = sensor_time;
	w.s.exported = &w.exported;
	w.now_ns = 1000 * SECOND_NS;
	w.clock_ns = START_NS + 100 * MS;
	assert_int_equal(one_way_start(&w.o, &w.s, &w.d), 0);
	assert_int_equal(deliver_init(&w.d, &w.s, &w.counters, 1024 * 1024), 0);
	deliver_start(&w.d, 0, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	deliver_free(&w.d);
	session_free(&w.s);
	shroud_rx_free(&w.rx, &w.table);
	table_free(&w.table);
	close(w.sock);
	return 0;
}

static void pass(uint64_t ns)
{
	w.now_ns += ns;
	w.clock_ns += ns;
	session_tick(&w.s, w.now_ns);
}

/* Advances the clock to the start of the next slot. */
static void pass_slot(void)
{
	pass(ONE_WAY_SLOT_NS - w.clock_ns % ONE_WAY_SLOT_NS);
}

static void up(void)
{
	session_tick(&w.s, w.now_ns);
	pass_slot();
	pass(ONE_WAY_BEGIN_NS);
	assert_true(deliver_session(&w.d, w.now_ns));
	collect();
}

static void put_combos(unsigned int count)
{
	static const uint8_t wire[COMBO_LEN];

	for (unsigned int i = 0; i < count; i++)
		assert_true(deliver_put(&w.d, wire, sizeof(wire), 10 * w.d.store.end, 10));
}

/* Runs the export thread once. */
static void turn(void)
{
	deliver_receive(&w.d, w.now_ns);
	deliver_send(&w.d, w.now_ns);
}

/* ---- the control thread's half --------------------------------------------------------------- */

static void it_begins_with_a_slot(void **state)
{
	struct session_path path = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		pass(SECOND_NS);
	assert_int_equal(collect(), 0); /* an earlier agent may have used this one */
	pass(SECOND_NS);
	assert_int_equal(collect(), 3);
	assert_int_equal(w.m1s, 3);
	assert_int_equal(w.sessions, 1);
	assert_int_equal(w.hello.flags, TRYST_ONE_WAY);
	assert_int_equal(w.hello.window, ONE_WAY_WINDOW);
	assert_int_equal(w.hello.next, 1);
	assert_int_equal(w.hello.run, w.s.run);
	assert_int_equal(w.slot % TRYST_SLOTS, 1);
	assert_false(session_use(&w.s, &path));
	pass(ONE_WAY_BEGIN_NS - 1);
	assert_false(session_use(&w.s, &path));
	pass(1);
	assert_true(session_use(&w.s, &path));
	assert_int_equal(collect(), 0);
}

/* Once in each slot, under that slot's address. */
static void it_is_announced_again(void **state)
{
	uint64_t last_ns;

	(void)state;
	up();
	put_combos(3);
	pass(100 * MS);
	turn();
	collect();
	w.m1s = 0;
	for (unsigned int n = 1; n < 30; n++) {
		last_ns = w.hello.time_ns;
		pass_slot();
		pass(MS);
		assert_int_equal(collect(), 1);
		assert_int_equal(w.m1s, n);
		assert_int_equal(w.slot, w.clock_ns / ONE_WAY_SLOT_NS);
		assert_int_equal(w.hello.next, w.d.flight.next);
		assert_true(w.hello.time_ns > last_ns);
	}
	assert_int_equal(w.sessions, 1);
	assert_int_equal(w.strange, 0);
}

/* The next session is announced three times before it begins. Combos sent in the old one are not
 * lost. */
static void another_session(void **state)
{
	unsigned int generation;

	(void)state;
	w.s.renew_ns = 10 * SECOND_NS;
	up();
	generation = w.d.path.generation;
	while (w.sessions < 2) {
		pass_slot();
		collect();
	}
	for (int i = 1; i < ONE_WAY_ANNOUNCED; i++) {
		pass(ONE_WAY_SLOT_NS / 2);
		assert_true(deliver_session(&w.d, w.now_ns));
		assert_int_equal(w.d.path.generation, generation);
		pass_slot();
		assert_int_equal(collect(), 1);
		assert_int_equal(w.hello.next, 1);
	}
	pass(ONE_WAY_BEGIN_NS);
	assert_true(deliver_session(&w.d, w.now_ns));
	assert_int_equal(w.d.path.generation, generation + 1);
	put_combos(1);
	pass(100 * MS);
	turn();
	collect();
	assert_int_equal(w.kinds[MESSAGE_COMBO], 4);
	assert_int_equal(w.strange, 0);
	assert_int_equal(w.sessions, 2);
	assert_true(sodium_is_zero(w.o.k2, KEY_LEN));
}

static void a_clock_that_is_set_back(void **state)
{
	uint64_t last_ns;

	(void)state;
	up();
	last_ns = w.hello.time_ns;
	w.m1s = 0;
	w.clock_ns -= 10 * SECOND_NS;
	for (int i = 0; i < 5; i++) {
		pass_slot();
		collect();
		assert_true(!w.m1s || w.hello.time_ns > last_ns);
	}
	assert_true(w.m1s >= 1 && w.m1s < 5); /* used slots are not used again */
	assert_int_equal(w.strange, 0);
}

static void it_needs_a_clock(void **state)
{
	(void)state;
	w.clock_ns = 1000 * SECOND_NS;
	w.s.ops = NULL;
	assert_int_equal(one_way_start(&w.o, &w.s, &w.d), -EINVAL);
	assert_null(w.s.ops);
}

/* ---- the export thread's half ---------------------------------------------------------------- */

static void each_combo_is_sent_once(void **state)
{
	(void)state;
	up();
	put_combos(40);
	for (int i = 0; i < 400 && w.d.store.lowest < 40; i++) {
		pass(10 * MS);
		turn();
		collect();
	}
	assert_int_equal(w.d.store.lowest, 40);
	assert_int_equal(w.d.kept_first, 400);
	for (int i = 0; i < 200; i++) {
		pass(10 * MS);
		turn();
		collect();
	}
	for (int n = 0; n < 40; n++)
		assert_int_equal(w.combos[n], 4);
	assert_int_equal(w.kinds[MESSAGE_COMBO], 160);
	assert_int_equal(w.strange, 0);
	assert_int_equal(w.d.given_up, 0);
}

/* Smooth, and so slow that a collector that heard nothing since the last m1 knows all addresses. */
static void the_pace(void **state)
{
	uint64_t before;

	(void)state;
	up();
	put_combos(200);
	pass(SECOND_NS);
	turn();
	assert_int_equal(w.d.flight.next - 1, ONE_WAY_BURST);
	assert_int_equal(deliver_wait_ms(&w.d, w.now_ns, 1000), 16);
	before = w.d.flight.next;
	pass(20 * MS);
	turn();
	assert_int_equal(w.d.flight.next - before, 20);
	collect();
	w.o.limit = w.d.flight.next + 36;
	w.d.ops->sent(&w.d, 0, w.now_ns);
	before = w.d.flight.next;
	for (int i = 0; i < 50; i++) {
		pass(10 * MS);
		turn();
		collect();
	}
	assert_true(w.d.flight.next - before <= 36 && w.d.flight.next - before >= 16);
	pass_slot();
	for (int i = 0; i < 2; i++) {
		pass(10 * MS);
		turn();
	}
	assert_true(w.d.flight.next - before > 36);
}

/* Combos given up are reported as long as the run lasts. */
static void a_floor_is_said(void **state)
{
	(void)state;
	up();
	put_combos(2);
	deliver_drop_oldest(&w.d);
	pass(100 * MS);
	for (int i = 0; i < 3; i++) {
		turn();
		deliver_floor(&w.d, w.now_ns);
	}
	collect();
	assert_int_equal(w.kinds[MESSAGE_FLOOR], 3);
	assert_int_equal(w.combos[0], 0);
	assert_int_equal(w.combos[1], 4);
	assert_int_equal(w.d.given_up, 10);
}

static void the_last_word(void **state)
{
	static const uint8_t totals[] = { MESSAGE_TOTALS, 0 };
	int said = 0;

	(void)state;
	up();
	put_combos(1);
	pass(100 * MS);
	turn();
	for (; !w.d.final && said < 100; said++) {
		uint64_t n = deliver_message(&w.d, totals, sizeof(totals), w.now_ns);

		w.d.final_number = w.d.final_number ?: n;
		deliver_floor(&w.d, w.now_ns);
		pass(100 * MS);
		turn();
	}
	assert_true(said >= ONE_WAY_FINALS && said <= ONE_WAY_FINALS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
		T(it_begins_with_a_slot),
		T(it_is_announced_again),
		T(another_session),
		T(a_clock_that_is_set_back),
		T(it_needs_a_clock),
		T(each_combo_is_sent_once),
		T(the_pace),
		T(a_floor_is_said),
		T(the_last_word),
#undef T
	};

	return keys_init() || cmocka_run_group_tests(tests, NULL, NULL);
}
