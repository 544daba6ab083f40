// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/in_flight.o agent/export/in_flight_window.o wire/shroud.o wire/table.o
 * wire/derive.o */
#include "unit.h"

#include "agent/export/in_flight.h"

/* Each function by itself; test_deliver.c tests them together over a network. */
#define MS 1000000ULL
#define START (1000 * MS)

static struct {
	struct in_flight f;
	uint64_t now_ns;
	unsigned int acked, lost;
	uint8_t state[4096]; /* indexed by `combo`, which is the number here */
} w;

static void told(void *context, const struct in_flight_sent *d)
{
	(void)context;
	w.acked += d->state == IN_FLIGHT_ACKED;
	w.lost += d->state == IN_FLIGHT_LOST;
	w.state[d->combo] = d->state;
}

static void begin(uint32_t window)
{
	memset(&w, 0, sizeof(w));
	w.now_ns = START;
	in_flight_reset(&w.f, window, w.now_ns);
}

/* Sends as many as allowed, `n` at most: asks before each, as deliver.c does. */
static unsigned int send_n(unsigned int n)
{
	unsigned int sent = 0, may;

	while (sent < n && (may = in_flight_may_send(&w.f, w.now_ns))) {
		for (; may && sent < n; may--, sent++) {
			struct in_flight_sent d = { .sent_ns = w.now_ns, .combo = w.f.next % 4096 };

			in_flight_send(&w.f, &d);
		}
	}
	return sent;
}

/* Acknowledges `highest` and all below it, except every `hole`th. */
static void ack(uint64_t highest, unsigned int hole)
{
	struct ack a = { .highest = highest };

	for (uint64_t n = 0; n < SHROUD_BEHIND && n < highest; n++)
		if (!hole || (highest - n) % hole)
			a.received[n / 8] |= 1 << n % 8;
	assert_int_equal(in_flight_ack(&w.f, &a, w.now_ns, told, NULL), 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void begins_slowly_and_grows(void **state)
{
	(void)state;
	begin(1024);
	assert_int_equal(send_n(100), IN_FLIGHT_CWND_FIRST);
	assert_int_equal(send_n(100), 0);
	w.now_ns += MS;
	ack(16, 0);
	assert_int_equal(w.acked, 16);
	assert_int_equal(send_n(100), 32);
	for (int i = 0; i < 3; i++) {
		w.now_ns += MS;
		ack(w.f.next - 1, 0);
		send_n(1000);
	}
	assert_in_range(w.f.cwnd, 64, 256);
	assert_int_equal(w.lost, 0);
}

/* An unused window does not grow. */
static void idle_windows_stay(void **state)
{
	(void)state;
	begin(1024);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(send_n(3), 3);
		w.now_ns += MS;
		ack(w.f.next - 1, 0);
	}
	assert_int_equal(w.f.cwnd, IN_FLIGHT_CWND_FIRST);
}

/* Above any congestion window: the collector must know the addresses. */
static void numbers_the_collector_knows(void **state)
{
	struct in_flight_sent other = { .sent_ns = START, .piece = IN_FLIGHT_OTHER };

	(void)state;
	begin(64);
	w.f.cwnd = 10000;
	assert_int_equal(in_flight_numbers_left(&w.f), shroud_room(0, 64));
	assert_int_equal(send_n(1000), shroud_room(0, 64) - IN_FLIGHT_RESERVE);
	for (int i = 0; i < IN_FLIGHT_RESERVE; i++) {
		assert_true(in_flight_numbers_left(&w.f) > 0);
		in_flight_send(&w.f, &other);
	}
	assert_int_equal(in_flight_numbers_left(&w.f), 0);
	ack(10, 0);
	assert_int_equal(in_flight_numbers_left(&w.f), 10);
	for (int i = 0; i < 10000; i++) {
		w.now_ns += MS;
		ack(w.f.next - 1, 0);
		send_n(1000);
		assert_true(w.f.next - 1 <= w.f.highest + shroud_room(w.f.highest, 64));
	}
}

static void overtaken_by_50_is_not_lost(void **state)
{
	struct ack a = { 0 };

	(void)state;
	begin(1024);
	w.f.cwnd = 200;
	w.f.highest = 200;
	w.f.next = w.f.oldest = 201;
	assert_int_equal(send_n(60), 60);
	w.now_ns += MS;
	a.highest = 251; /* all except the first */
	for (uint64_t n = 0; n < 50; n++)
		a.received[n / 8] |= 1 << n % 8;
	in_flight_ack(&w.f, &a, w.now_ns, told, NULL);
	assert_int_equal(w.lost, 0);
	w.now_ns += MS;
	ack(251, 0);
	assert_int_equal(w.lost, 0);
	assert_int_equal(w.state[201], IN_FLIGHT_ACKED);
}

static void lost_is_what_is_late(void **state)
{
	(void)state;
	begin(1024);
	send_n(16);
	w.now_ns += 10 * MS;
	ack(16, 5);
	assert_int_equal(w.acked, 13);
	assert_int_equal(w.lost, 0);
	assert_true(in_flight_due_ns(&w.f) > w.now_ns);
	assert_true(in_flight_due_ns(&w.f) < w.now_ns + 100 * MS);
	w.now_ns = in_flight_due_ns(&w.f);
	in_flight_expire(&w.f, w.now_ns, told, NULL);
	assert_int_equal(w.lost, 3);
	assert_int_equal(w.f.timeouts, 0);
	assert_int_equal(w.f.under_way, 0);
	assert_int_equal(in_flight_due_ns(&w.f), UINT64_MAX);
	/* It comes after all: it is reported, and the next ones get as much time. */
	w.now_ns += 40 * MS;
	ack(16, 0);
	assert_int_equal(w.acked, 16);
	assert_int_equal(w.state[5], IN_FLIGHT_ACKED);
	assert_true(w.f.overtaken_ns > 40 * MS);
}

static void timeouts_back_off_to_5_s(void **state)
{
	const uint64_t ms[] = { 300, 600, 1200, 2400, 4800, 5000, 5000 };

	(void)state;
	begin(1024);
	for (int i = 0; i < 7; i++) {
		uint64_t then = w.now_ns;

		assert_true(send_n(2) > 0);
		w.now_ns = in_flight_due_ns(&w.f);
		assert_int_equal((w.now_ns - then) / MS, ms[i]);
		in_flight_expire(&w.f, w.now_ns, told, NULL);
		assert_int_equal(w.f.under_way, 0);
	}
	assert_int_equal(w.f.cwnd, IN_FLIGHT_CWND_MIN);
	send_n(1);
	w.now_ns += 5 * MS;
	ack(w.f.next - 1, 0);
	assert_int_equal(w.f.timeouts, 0);
	assert_int_equal(in_flight_rto_ns(&w.f), IN_FLIGHT_RTO_MIN_NS);
}

static unsigned int cwnd_after(unsigned int hole)
{
	begin(1024);
	for (int i = 0; i < 200; i++) {
		send_n(1000);
		w.now_ns += MS;
		ack(w.f.next - 1, hole);
		w.now_ns += 30 * MS;
		in_flight_expire(&w.f, w.now_ns, told, NULL);
	}
	return w.f.cwnd;
}

/* A fifth may be lost by accident. Of two thirds lost, part is congestion. */
static void loss_that_is_and_is_not_congestion(void **state)
{
	(void)state;
	assert_in_range(cwnd_after(5), 100, 512);
	begin(1024);
	for (int i = 0; i < 400; i++) {
		struct ack a = { 0 };

		send_n(1000);
		w.now_ns += MS;
		a.highest = w.f.next - 1;
		for (uint64_t n = 0; n < SHROUD_BEHIND && n < a.highest; n++)
			a.received[n / 8] |= ((a.highest - n) % 3 == 0) << n % 8;
		in_flight_ack(&w.f, &a, w.now_ns, told, NULL);
		w.now_ns += 30 * MS;
		in_flight_expire(&w.f, w.now_ns, told, NULL);
	}
	assert_in_range(w.f.cwnd, IN_FLIGHT_CWND_MIN, 2 * IN_FLIGHT_CWND_FIRST);
}

static void slow_paths_are_paced(void **state)
{
	unsigned int sent = 0, at_once;

	(void)state;
	begin(1024);
	send_n(16);
	w.now_ns += 100 * MS;
	ack(16, 0);
	w.f.cwnd = w.f.threshold = 100;
	w.f.highest = 1000;
	w.f.next = w.f.oldest = 1001;
	at_once = send_n(1000);
	assert_in_range(at_once, 1, IN_FLIGHT_BURST);
	for (int ms = 0; ms < 50; ms++) {
		assert_true(in_flight_paced_ns(&w.f) > w.now_ns);
		w.now_ns += MS;
		sent += send_n(1000);
	}
	assert_in_range(sent, 45, 75); /* 100 per round trip, and a quarter more */
}

static void acks_of_what_was_not_sent(void **state)
{
	struct ack a = { .highest = 17 };

	(void)state;
	begin(1024);
	send_n(16);
	memset(a.received, 0xff, sizeof(a.received));
	assert_int_equal(in_flight_ack(&w.f, &a, w.now_ns, told, NULL), -1);
	a.highest = UINT64_MAX;
	assert_int_equal(in_flight_ack(&w.f, &a, w.now_ns, told, NULL), -1);
	assert_int_equal(w.acked, 0);
	a.highest = 0;
	assert_int_equal(in_flight_ack(&w.f, &a, w.now_ns, told, NULL), 0);
	assert_int_equal(w.acked, 0);
	assert_int_equal(w.f.under_way, 16);
}

/* Random events in random order: each datagram is reported once. */
static void anything_at_all(void **state)
{
	(void)state;
	srandom(3);
	for (int round = 0; round < 200; round++) {
		begin(64 << random() % 5);
		while (w.f.next < 4000) {
			struct ack a = { .highest = w.f.next - 1 - random() % 20 };

			send_n(random() % 50);
			for (unsigned int i = 0; i < sizeof(a.received); i++)
				a.received[i] = random() & random();
			w.now_ns += random() % (40 * MS);
			if (random() % 3)
				in_flight_ack(&w.f, &a, w.now_ns, told, NULL);
			else
				in_flight_expire(&w.f, w.now_ns, told, NULL);
			assert_true(w.f.under_way <= 512);
			assert_true(w.f.next - w.f.oldest <= IN_FLIGHT_MAX);
			assert_true(w.f.next - 1 <= w.f.highest + 512);
		}
		w.now_ns += 100000 * MS;
		in_flight_expire(&w.f, w.now_ns, told, NULL);
		assert_int_equal(w.f.under_way, 0);
		for (uint64_t n = 1; n < w.f.next; n++)
			assert_int_not_equal(w.state[n], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_slowly_and_grows),
		cmocka_unit_test(idle_windows_stay),
		cmocka_unit_test(numbers_the_collector_knows),
		cmocka_unit_test(overtaken_by_50_is_not_lost),
		cmocka_unit_test(lost_is_what_is_late),
		cmocka_unit_test(timeouts_back_off_to_5_s),
		cmocka_unit_test(loss_that_is_and_is_not_congestion),
		cmocka_unit_test(slow_paths_are_paced),
		cmocka_unit_test(acks_of_what_was_not_sent),
		cmocka_unit_test(anything_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
