// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/deliver.o agent/export/deliver_send.o agent/export/deliver_receive.o
 * agent/export/in_flight.o agent/export/in_flight_window.o agent/export/session_send.o
 * agent/export/store.o wire/shroud.o wire/table.o wire/derive.o wire/keys.o */
#include "unit.h"

#include <sodium.h>
#include <sys/socket.h>

#include "agent/export/deliver.h"
#include "wire/combo.h"

/* A sensor's export and a collector that follows docs/wire.md, with a bad network between them, and
 * simulated time. */
#define MS 1000000ULL
#define LINK_MAX 8192
#define COMBOS 1024
#define WINDOW 1024
#define FRAMES 10 /* per combo */

struct datagram {
	uint64_t at_ns; /* arrival time; 0: none */
	uint64_t order; /* or after so many more: see `overtaken` */
	size_t len;
	uint8_t bytes[SHROUD_DATAGRAM_MAX];
};

static struct {
	/* the network, both ways */
	unsigned int loss, twice, overtaken; /* per cent */
	uint64_t delay_ns;
	bool forged;		   /* one ICMP message says that the path refuses this size */
	size_t refused, swallowed; /* datagrams above this size: EMSGSIZE, lost */
	bool cut;
	struct datagram there[LINK_MAX];
	uint64_t sent;
	struct {
		uint64_t at_ns;
		struct ack ack;
	} back[LINK_MAX];
	unsigned int back_count; /* of them, those under way */
	uint64_t acks;

	/* the collector */
	struct table table;
	struct shroud_rx rx;
	uint64_t taken, lost_combos, forget;
	bool holds, full, refused_some; /* disk full; memory full; refused some since ACK */
	bool whole[COMBOS * 4];
	uint8_t got[COMBOS * 4][COMBO_WIRE_MAX / 8 + 1];
	uint8_t *bytes[COMBOS * 4];
	size_t total[COMBOS * 4];
	unsigned int unacked, pieces, unknown;
	uint64_t ack_due_ns, floors, floors_before;

	/* the sensor */
	uint64_t now_ns;
	struct session session;
	unsigned int generation;
	struct session_path path;
	struct deliver d;
	struct saluki_exported counters;
} w;

/* ---- functions that the sensor calls --------------------------------------------------------- */

bool session_use(struct session *s, struct session_path *p)
{
	(void)s;
	if (w.generation && p->generation != w.generation)
		*p = w.path;
	return w.generation;
}

bool session_ack(struct session *s, unsigned int generation, struct ack *ack)
{
	(void)s;
	assert_int_equal(generation, w.generation);
	for (int i = 0; w.back_count && i < LINK_MAX; i++) {
		if (!w.back[i].at_ns || w.back[i].at_ns > w.now_ns)
			continue;
		*ack = w.back[i].ack;
		w.back[i].at_ns = 0;
		w.back_count--;
		return true;
	}
	return false;
}

size_t session_outbox(struct session *s, unsigned int generation, uint8_t message[MESSAGE_MAX])
{
	(void)s;
	(void)generation;
	(void)message;
	return 0;
}

void session_sent(struct session *s, uint64_t now_ns)
{
	(void)s;
	(void)now_ns;
}

void session_refused(struct session *s)
{
	(void)s;
}

uint64_t session_clock_ns(struct session *s)
{
	(void)s;
	return w.now_ns;
}

static bool chance(unsigned int per_cent)
{
	return (unsigned int)(random() % 100) < per_cent;
}

static void transmit(const struct iovec *v)
{
	unsigned int times = chance(w.loss) || w.cut ? 0 : chance(w.twice) ? 2 : 1;

	if (w.swallowed && v->iov_len > w.swallowed)
		return;
	for (; times; times--) {
		struct datagram *d = &w.there[w.sent++ % LINK_MAX];

		assert_int_equal(d->at_ns, 0);
		d->at_ns = w.now_ns + w.delay_ns + 1;
		d->order = chance(w.overtaken) ? w.sent + 50 : 0;
		d->len = v->iov_len;
		memcpy(d->bytes, v->iov_base, v->iov_len);
	}
}

#ifdef __GLIBC__
int sendmmsg(int sock, struct mmsghdr *messages, unsigned int n, int flags)
#else /* musl */
int sendmmsg(int sock, struct mmsghdr *messages, unsigned int n, unsigned int flags)
#endif
{
	(void)sock;
	(void)flags;
	for (unsigned int i = 0; i < n; i++) {
		const struct iovec *v = messages[i].msg_hdr.msg_iov;

		if (w.forged || (w.refused && v->iov_len > w.refused)) {
			w.forged = false;
			errno = EMSGSIZE;
			return i ? (int)i : -1;
		}
		transmit(v);
	}
	return n;
}

/* ---- the collector --------------------------------------------------------------------------- */

static size_t combo_len(uint64_t count)
{
	return COMBO_HEADER_LEN + 1 + (count * 2654435761u >> 7) % (count % 50 ? 5000 : 32000);
}

static uint8_t combo_byte(uint64_t count, size_t i)
{
	return count * 31 + i * 7 + i / 256;
}

static void take(void)
{
	while (w.whole[w.taken] && !w.holds) {
		for (size_t i = 0; i < w.total[w.taken]; i++)
			if (i / 2 != 1) /* the sensor's id */
				assert_int_equal(w.bytes[w.taken][i], combo_byte(w.taken, i));
		assert_int_equal(load_be(w.bytes[w.taken] + 2, 2), 0x1234);
		w.taken++;
	}
}

static void hear_piece(const struct piece *p)
{
	uint64_t n = p->combo;
	bool whole = true;

	w.pieces++;
	assert_true(n < COMBOS * 4);
	if (n >= w.taken + PIECE_COMBOS_AHEAD) { /* the session's first FLOOR was lost */
		assert_true(w.loss && w.floors == w.floors_before);
		return;
	}
	if (n < w.taken)
		return;
	if (!w.bytes[n])
		w.bytes[n] = calloc(1, COMBO_WIRE_MAX);
	assert_int_equal(p->total, combo_len(n));
	w.total[n] = p->total;
	memcpy(w.bytes[n] + p->offset, p->data, p->len);
	for (size_t i = p->offset; i < p->offset + p->len; i += 8)
		w.got[n][i / 8] = 1;
	for (size_t i = 0; i < p->total; i += 8)
		whole = whole && w.got[n][i / 8];
	if (whole && w.forget) { /* no room after all */
		w.forget--;
		memset(w.got[n], 0, sizeof(w.got[n]));
		return;
	}
	w.whole[n] = whole;
	take();
}

static void hear_floor(uint64_t combo, uint64_t first)
{
	w.floors++;
	if (combo <= w.taken)
		return;
	for (uint64_t n = w.taken; n < combo; n++)
		w.lost_combos += !w.whole[n];
	assert_int_equal(first, combo * FRAMES);
	w.taken = combo;
	take();
}

static void hear(const struct datagram *d)
{
	const struct table_entry *e = table_find(&w.table, load_word(d->bytes), NULL);
	uint8_t message[SHROUD_DATAGRAM_MAX];
	struct piece p;
	uint64_t number;
	long len;

	if (!e) { /* a repetition, or too far ahead, which is checked for all */
		w.unknown++;
		return;
	}
	len = shroud_open(&w.rx, &w.table, e->low, &number, message, d->bytes, d->len);
	if (len < 0)
		return; /* of an earlier session */
	if (message[0] == MESSAGE_COMBO && w.full) {
		w.pieces++;
		w.refused_some = true;
		if (!w.unacked++)
			w.ack_due_ns = w.now_ns + 20 * MS;
		return;
	}
	if (message[0] == MESSAGE_COMBO && piece_read(&p, message, len) == 0)
		hear_piece(&p);
	else if (message[0] == MESSAGE_FLOOR)
		hear_floor(load_be(message + 1, 8), load_be(message + 9, 8));
	shroud_keep(&w.rx, number);
	if (!w.unacked++)
		w.ack_due_ns = w.now_ns + 20 * MS;
}

static void answer(void)
{
	struct ack a = { .highest = w.rx.highest, .taken = w.taken, .settled = w.taken };
	uint64_t slot = w.acks++ % LINK_MAX;

	w.unacked = 0;
	a.flags = (w.whole[w.taken] ? ACK_WHOLE : 0) | (w.refused_some ? ACK_FULL : 0);
	w.refused_some = false;
	shroud_received(&w.rx, a.received);
	for (int n = 0; n < 64; n++)
		a.held |= (uint64_t)w.whole[w.taken + 1 + n] << n;
	if (chance(w.loss) || w.cut)
		return;
	assert_int_equal(w.back[slot].at_ns, 0);
	w.back[slot].at_ns = w.now_ns + w.delay_ns;
	w.back_count++;
	w.back[slot].ack = a;
}

static void collector_turn(void)
{
	for (uint64_t i = w.sent > LINK_MAX ? w.sent - LINK_MAX : 0; i < w.sent; i++) {
		struct datagram *d = &w.there[i % LINK_MAX];

		if (!d->at_ns || d->at_ns > w.now_ns)
			continue;
		if (d->order > w.sent && w.now_ns < d->at_ns + 200 * MS)
			continue; /* overtaken by 50 others, if there are as many */
		d->at_ns = 0;
		hear(d);
		if (w.unacked >= 16)
			answer();
	}
	if (w.unacked && w.now_ns >= w.ack_due_ns)
		answer();
}

/* ---- a world --------------------------------------------------------------------------------- */

static void new_session(bool padded)
{
	struct shroud_keys keys;

	shroud_rx_free(&w.rx, &w.table);
	memset(w.there, 0, sizeof(w.there));
	memset(w.back, 0, sizeof(w.back));
	w.back_count = 0;
	w.sent = w.acks = w.unacked = 0;
	w.floors_before = w.floors;
	w.generation++;
	memset(&keys, w.generation, sizeof(keys));
	assert_int_equal(shroud_rx_init(&w.rx, &w.table, &keys, 1, WINDOW), 0);
	shroud_tx_init(&w.path.tx, &keys);
	w.path.generation = w.generation;
	w.path.window = WINDOW;
	w.path.sensor_id = 0x1234;
	w.path.padded = padded;
}

static void begin(size_t store_bytes)
{
	for (int i = 0; i < COMBOS * 4; i++)
		free(w.bytes[i]);
	deliver_free(&w.d);
	shroud_rx_free(&w.rx, &w.table);
	table_free(&w.table);
	memset(&w, 0, sizeof(w));
	srandom(4711);
	w.now_ns = 1000 * MS;
	w.session.peer = "test";
	assert_int_equal(table_init(&w.table, 4096), 0);
	assert_int_equal(deliver_init(&w.d, &w.session, &w.counters, store_bytes), 0);
	deliver_start(&w.d, 0, 0);
	new_session(false);
}

static bool put(void)
{
	static uint8_t wire[COMBO_WIRE_MAX];
	uint64_t n = w.d.store.end;

	for (size_t i = 0; i < combo_len(n); i++)
		wire[i] = combo_byte(n, i);
	return deliver_put(&w.d, wire, combo_len(n), n * FRAMES, FRAMES);
}

static void turn(void)
{
	unsigned int generation = w.d.path.generation;
	uint8_t other[] = { MESSAGE_TOTALS };

	if (deliver_session(&w.d, w.now_ns)) {
		deliver_receive(&w.d, w.now_ns);
		if (w.d.path.generation != generation || w.now_ns % (1000 * MS) == 0) {
			deliver_message(&w.d, other, sizeof(other), w.now_ns);
			deliver_floor(&w.d, w.now_ns);
		}
		deliver_send(&w.d, w.now_ns);
		if (deliver_ask(&w.d, w.now_ns))
			deliver_message(&w.d, other, sizeof(other), w.now_ns);
	}
	collector_turn();
	w.now_ns += MS;
}

/* Delivers `combos`. Returns the milliseconds taken. */
static unsigned int deliver(uint64_t combos, unsigned int most_ms)
{
	unsigned int ms = 0;

	while (w.d.store.end < combos || !store_is_empty(&w.d.store)) {
		while (w.d.store.end < combos && put())
			;
		turn();
		assert_in_range(++ms, 0, most_ms);
	}
	assert_int_equal(w.taken, combos);
	assert_int_equal(w.lost_combos, 0);
	return ms;
}

static unsigned int pieces_of(uint64_t combos, size_t room)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < combos; i++)
		n += (combo_len(i) + room - 1) / room;
	return n;
}

static void report(const char *what, uint64_t combos, unsigned int ms)
{
	printf("%s: %u ms, %u datagrams for %u pieces, cwnd %u, srtt %.1f ms\n", what, ms,
	       (unsigned int)w.counters.datagrams, pieces_of(combos, PIECE_DATA_MAX),
	       w.d.flight.cwnd, w.d.flight.srtt_ns / 1e6);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_good_network_has_each_piece_once(void **state)
{
	unsigned int ms;

	(void)state;
	begin(1 << 20);
	ms = deliver(COMBOS, 5000);
	report("good", COMBOS, ms);
	assert_int_equal(w.pieces, pieces_of(COMBOS, PIECE_DATA_MAX));
	assert_int_equal(w.unknown, 0);
	assert_int_equal(w.d.kept_first, COMBOS * FRAMES);
}

static void lossy(void **state)
{
	const unsigned int per_cent[] = { 1, 5, 20 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		unsigned int want = pieces_of(COMBOS, PIECE_DATA_MAX), ms;

		begin(1 << 20);
		w.loss = per_cent[i];
		w.delay_ns = 5 * MS;
		ms = deliver(COMBOS, 60000);
		report("lossy", COMBOS, ms);
		assert_in_range(w.counters.datagrams, want,
				want * 100 / (100 - per_cent[i]) * 5 / 4 + 60);
		assert_int_equal(w.unknown, 0);
	}
}

static void overtaken_and_twice(void **state)
{
	unsigned int want = pieces_of(COMBOS, PIECE_DATA_MAX), ms;

	(void)state;
	begin(1 << 20);
	w.overtaken = 10;
	w.twice = 5;
	w.delay_ns = 2 * MS;
	ms = deliver(COMBOS, 60000);
	report("overtaken", COMBOS, ms);
	assert_in_range(w.counters.datagrams, want, want + want / 10);
}

static void far_away(void **state)
{
	unsigned int ms;

	(void)state;
	begin(1 << 20);
	w.delay_ns = 150 * MS;
	w.loss = 1;
	ms = deliver(COMBOS, 60000);
	report("far away", COMBOS, ms);
	assert_true(w.d.flight.cwnd > 64);
}

static void padded(void **state)
{
	(void)state;
	begin(1 << 20);
	new_session(true);
	w.refused = SHROUD_DATAGRAM_PADDED;
	deliver(100, 5000);
	assert_int_equal(w.pieces, pieces_of(100, PIECE_DATA(SHROUD_DATAGRAM_PADDED - 2)));
}

static void a_forged_path_mtu(void **state)
{
	(void)state;
	begin(1 << 20);
	for (int i = 0; i < 10; i++) {
		w.forged = true;
		deliver(100 * (i + 1), 5000);
		assert_false(w.forged);
	}
	assert_int_equal(w.d.datagram_len, SHROUD_DATAGRAM_MAX);
	assert_false(w.d.told_pause);
}

/* The collector returns and knows the settled combos. */
static void another_session(void **state)
{
	(void)state;
	begin(1 << 20);
	w.loss = 5;
	for (int i = 0; i < 20; i++) {
		while (w.d.store.end < 1000 && put())
			;
		for (int n = 0; n < 20; n++)
			turn();
		new_session(i % 2);
		for (uint64_t c = w.taken; c < w.taken + 100; c++) {
			w.whole[c] = false;
			memset(w.got[c], 0, sizeof(w.got[c]));
		}
	}
	deliver(1000, 60000);
}

static void a_minute_of_no_network(void **state)
{
	uint64_t sent;

	(void)state;
	begin(4 << 20);
	w.delay_ns = 5 * MS;
	deliver(100, 5000);
	w.cut = true;
	while (w.d.store.end < 500 && put())
		;
	sent = w.counters.datagrams;
	for (int ms = 0; ms < 60000; ms++)
		turn();
	assert_in_range(w.counters.datagrams - sent, 1, WINDOW / 2); /* it was not flooded */
	w.cut = false;
	new_session(false); /* as after silence */
	deliver(600, 5000);
}

static void a_path_that_refuses_large_ones(void **state)
{
	unsigned int want;

	(void)state;
	begin(1 << 20);
	w.refused = 1252;
	deliver(200, 5000);
	assert_int_equal(w.d.datagram_len, SHROUD_DATAGRAM_PADDED);
	want = pieces_of(200, PIECE_DATA(SHROUD_DATAGRAM_PADDED));
	assert_in_range(w.pieces, want, want + 16); /* ends of the first ones were small enough */
}

static void a_path_that_swallows_large_ones(void **state)
{
	(void)state;
	begin(1 << 20);
	w.swallowed = 1252;
	deliver(200, 20000);
	assert_int_equal(w.d.datagram_len, SHROUD_DATAGRAM_PADDED);
}

static void a_path_that_takes_nothing(void **state)
{
	(void)state;
	begin(1 << 20);
	w.refused = 600;
	do
		assert_true(put());
	while (combo_len(w.d.store.end - 1) < 2000);
	for (int ms = 0; ms < 100; ms++)
		turn();
	assert_true(w.d.pause_ends_ns);
	assert_false(deliver_has_sent(&w.d, w.d.store.end - 1));
	w.refused = 0;
	deliver(100, 10000);
}

/* Small messages arrive and pieces do not: pieces are sent ever more rarely, and all combos are
 * kept. */
static void a_path_that_swallows_all_pieces(void **state)
{
	uint64_t sent;

	(void)state;
	begin(1 << 20);
	w.swallowed = 200;
	for (int i = 0; i < 100; i++)
		assert_true(put());
	for (int ms = 0; ms < 20000; ms++)
		turn();
	sent = w.counters.datagrams;
	for (int ms = 0; ms < 60000; ms++)
		turn();
	assert_in_range(w.counters.datagrams - sent, 60, 60 + 12 * 20 + 60);
	w.swallowed = 0;
	deliver(200, 15000);
}

/* Combos dropped from a full store are counted exactly as lost, and delay nothing. */
static void given_up(void **state)
{
	(void)state;
	begin(256 << 10);
	deliver(20, 5000);
	w.cut = true;
	while (w.d.store.end < 500)
		if (!put())
			deliver_drop_oldest(&w.d);
	assert_true(w.d.given_up > 300 * FRAMES);
	for (int ms = 0; ms < 5000; ms++)
		turn();
	w.cut = false;
	w.loss = 20;
	new_session(false);
	while (!store_is_empty(&w.d.store))
		turn();
	assert_int_equal(w.taken, 500);
	assert_int_equal(w.lost_combos * FRAMES, w.d.given_up);
	assert_true(w.floors > 0);
}

/* For a long time more is captured than the path carries: combos given up delay nothing for a
 * second. */
static void a_store_that_always_overflows(void **state)
{
	uint64_t came;

	(void)state;
	begin(64 << 10);
	w.delay_ns = 50 * MS;
	for (int ms = 0; ms < 10000 && w.d.store.end < 3900; ms++) {
		while (ms % 4 == 0 && !put())
			deliver_drop_oldest(&w.d);
		turn();
	}
	came = w.taken - w.lost_combos;
	print_message("overflow: %llu of %llu combos\n", (unsigned long long)came,
		      (unsigned long long)w.d.store.end);
	assert_true(came > w.d.store.end / 4);
}

static void a_collector_without_room(void **state)
{
	(void)state;
	begin(1 << 20);
	w.forget = 200;
	deliver(300, 60000);
	assert_int_equal(w.forget, 0);
}

/* For an hour the collector holds all it may, and writes nothing: no piece is sent again. */
static void a_collector_whose_disk_is_full(void **state)
{
	unsigned int pieces;

	(void)state;
	begin(1 << 20);
	w.holds = true;
	while (put())
		;
	for (int ms = 0; ms < 5000; ms++)
		turn();
	assert_int_equal(w.taken, 0);
	assert_true(w.whole[0] && w.whole[63] && !w.whole[64]);
	pieces = w.pieces;
	for (int ms = 0; ms < 3600 * 1000; ms += 50) {
		turn();
		w.now_ns += 49 * MS; /* shorter than any timeout */
	}
	assert_int_equal(w.pieces, pieces);
	w.holds = false;
	take();
	while (!store_is_empty(&w.d.store))
		turn();
	assert_int_equal(w.taken, w.d.store.end);
}

/* The collector's word is believed: its memory is full, and the path still takes large
 * datagrams. */
static void a_collector_without_memory(void **state)
{
	unsigned int pieces;

	(void)state;
	begin(1 << 20);
	deliver(20, 5000);
	w.full = true;
	for (int i = 0; i < 40; i++)
		assert_true(put());
	for (int ms = 0; ms < 60 * 1000; ms++)
		turn();
	pieces = w.pieces;
	for (int ms = 0; ms < 600 * 1000; ms++)
		turn();
	print_message("no memory: %u pieces in 10 minutes\n", w.pieces - pieces);
	assert_in_range(w.pieces - pieces, 1, 600); /* 4 each 5 s */
	assert_false(w.d.told_pause);
	assert_int_equal(w.d.datagram_len, SHROUD_DATAGRAM_MAX);
	w.full = false;
	for (int ms = 0; ms < 10000 && !store_is_empty(&w.d.store); ms++)
		turn();
	assert_true(store_is_empty(&w.d.store));
}

/* An agent was killed between sending and counting: the collector has the first combo. */
static void the_collector_has_it_already(void **state)
{
	(void)state;
	begin(1 << 20);
	w.taken = 1;
	turn();
	turn();
	for (int ms = 0; ms < 30; ms++)
		turn();
	assert_true(put());
	assert_true(store_is_empty(&w.d.store));
	assert_true(deliver_has_sent(&w.d, 0));
	assert_int_equal(w.d.kept_first, FRAMES);
	deliver(100, 5000);
}

static void nonsense_is_not_believed(void **state)
{
	const struct ack ahead = { .highest = 1 << 20, .taken = 50, .settled = 50 };
	const struct ack much = {
		.highest = 1, .taken = UINT64_MAX, .settled = UINT64_MAX, .held = UINT64_MAX
	};

	(void)state;
	begin(1 << 20);
	for (int i = 0; i < 100; i++)
		assert_true(put());
	turn();
	w.back[LINK_MAX - 1].at_ns = 1;
	w.back_count++;
	w.back[LINK_MAX - 1].ack = ahead;
	turn();
	assert_int_equal(w.d.store.lowest, 0);
	/* The collector acknowledges combos far in the future: nothing breaks. */
	w.back[LINK_MAX - 1].at_ns = 1;
	w.back_count++;
	w.back[LINK_MAX - 1].ack = much;
	for (int i = 0; i < 100; i++)
		turn();
	assert_true(store_is_empty(&w.d.store));
	assert_true(put());
	assert_true(store_is_empty(&w.d.store));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_network_has_each_piece_once),
		cmocka_unit_test(lossy),
		cmocka_unit_test(overtaken_and_twice),
		cmocka_unit_test(far_away),
		cmocka_unit_test(padded),
		cmocka_unit_test(a_forged_path_mtu),
		cmocka_unit_test(another_session),
		cmocka_unit_test(a_minute_of_no_network),
		cmocka_unit_test(a_path_that_refuses_large_ones),
		cmocka_unit_test(a_path_that_swallows_large_ones),
		cmocka_unit_test(a_path_that_takes_nothing),
		cmocka_unit_test(a_path_that_swallows_all_pieces),
		cmocka_unit_test(given_up),
		cmocka_unit_test(a_store_that_always_overflows),
		cmocka_unit_test(a_collector_without_room),
		cmocka_unit_test(a_collector_whose_disk_is_full),
		cmocka_unit_test(a_collector_without_memory),
		cmocka_unit_test(the_collector_has_it_already),
		cmocka_unit_test(nonsense_is_not_believed),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
