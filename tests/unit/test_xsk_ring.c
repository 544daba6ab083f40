// SPDX-License-Identifier: GPL-2.0
/* links: agent/rings/xsk_ring.o */
#include "unit.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/rings/xsk_ring.h"

/* Sockets as the kernel has them: memory, a ring of free slots, and a ring of filled ones. A
 * frame's record begins HEADROOM after the slot's address; a descriptor has this in its upper bits,
 * as with unaligned chunks. */
#define LANES 3
#define RING 128 /* a power of two */
#define SLOTS 100
#define STRIDE 128
#define HEADROOM 256

struct kernel {
	uint32_t fill_producer, fill_consumer, fill_flags, rx_producer, rx_consumer, rx_flags;
	uint64_t fill[RING];
	struct xdp_desc rx[RING];
	uint8_t memory[SLOTS * STRIDE + 2048];
};

struct bed {
	struct xsk_ring r;
	struct xsk_lane lanes[LANES];
	struct kernel *kernels;
};

/* All positions begin at `at`. */
static void setup(struct bed *b, uint32_t lanes, uint32_t at)
{
	memset(b, 0, sizeof(*b));
	b->kernels = calloc(lanes, sizeof(*b->kernels));
	assert_non_null(b->kernels);
	for (uint32_t i = 0; i < lanes; i++) {
		struct kernel *k = &b->kernels[i];
		struct xsk_lane *l = &b->lanes[i];

		k->fill_producer = k->fill_consumer = k->rx_producer = k->rx_consumer = at;
		l->rx = (struct xsk_ring_cons){
			at,    at,	    RING - 1, RING, &k->rx_producer, &k->rx_consumer,
			k->rx, &k->rx_flags
		};
		l->fill = (struct xsk_ring_prod){ at,	   at + RING,	      RING - 1,
						  RING,	   &k->fill_producer, &k->fill_consumer,
						  k->fill, &k->fill_flags };
		l->memory = k->memory;
		l->fd = -1;
		l->first = l->next = l->end = at;
		xsk_lane_fill(l, SLOTS, STRIDE);
	}
	xsk_ring_init(&b->r, b->lanes, lanes);
}

static uint32_t slots_free(const struct kernel *k)
{
	return __atomic_load_n(&k->fill_producer, __ATOMIC_ACQUIRE) - k->fill_consumer;
}

/* Returns 0, or -1 if there is no slot. */
static int put(struct kernel *k, uint64_t time_ns, uint32_t len)
{
	struct saluki_record *rec;
	uint64_t addr;

	if (!slots_free(k))
		return -1;
	/* Room for every slot: a full ring has lost some. */
	assert_true(k->rx_producer - __atomic_load_n(&k->rx_consumer, __ATOMIC_ACQUIRE) < RING);
	addr = k->fill[k->fill_consumer % RING];
	__atomic_store_n(&k->fill_consumer, k->fill_consumer + 1, __ATOMIC_RELEASE);
	assert_true(addr % STRIDE == 0 && addr < SLOTS * STRIDE);
	rec = (void *)(k->memory + addr + HEADROOM);
	*rec = (struct saluki_record){ .time_ns = time_ns, .kept_len = len };
	memset(rec + 1, (int)time_ns & 255, len);
	k->rx[k->rx_producer % RING] = (struct xdp_desc){
		.addr = addr | (uint64_t)HEADROOM << XSK_UNALIGNED_BUF_OFFSET_SHIFT,
		.len = sizeof(*rec) + len,
	};
	__atomic_store_n(&k->rx_producer, k->rx_producer + 1, __ATOMIC_RELEASE);
	return 0;
}

static bool is_right(const struct saluki_record *r)
{
	const uint8_t *bytes = (const uint8_t *)(r + 1);

	for (uint32_t i = 0; i < r->kept_len; i++)
		if (bytes[i] != (r->time_ns & 255))
			return false;
	return true;
}

static void check(const struct saluki_record *r, uint64_t time_ns, uint32_t len)
{
	assert_non_null(r);
	assert_int_equal(r->time_ns, time_ns);
	assert_int_equal(r->kept_len, len);
	assert_true(is_right(r));
}

/* The kernel has all slots again, each once. */
static void assert_all_slots_back(const struct kernel *k)
{
	bool there[SLOTS] = { false };

	assert_int_equal(slots_free(k), SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint64_t slot = k->fill[(k->fill_consumer + i) % RING] / STRIDE;

		assert_true(slot < SLOTS && !there[slot]);
		there[slot] = true;
	}
}

static void lanes_are_merged_by_time(void **state)
{
	struct bed b;

	(void)state;
	setup(&b, LANES, 0);
	assert_null(xsk_ring_next(&b.r));
	for (uint64_t t = 1; t <= 90; t++)
		assert_int_equal(put(&b.kernels[t * t % LANES], t, t), 0);
	for (uint64_t t = 1; t <= 90; t++)
		check(xsk_ring_next(&b.r), t, t);
	assert_null(xsk_ring_next(&b.r));
	put(&b.kernels[2], 91, 0);
	check(xsk_ring_next(&b.r), 91, 0);
	assert_int_equal(b.r.lane - b.lanes, 2);
	assert_null(xsk_ring_next(&b.r));
	for (int i = 0; i < LANES; i++)
		assert_all_slots_back(&b.kernels[i]);
	free(b.kernels);
}

/* Any number of frames before each read, also across the wrap at 32 bits. */
static void every_slot_goes_round(void **state)
{
	uint64_t in = 0, out = 0;
	uint32_t random = 1;
	struct bed b;

	(void)state;
	setup(&b, 1, UINT32_MAX - 1000);
	while (out < 50000) {
		uint32_t burst = (random = random * 1664525 + 1013904223) >> 25;

		while (burst-- && put(&b.kernels[0], in + 1, in % 100) == 0)
			in++;
		random = random * 1664525 + 1013904223;
		for (burst = random >> 25; burst; burst--) {
			const struct saluki_record *r = xsk_ring_next(&b.r);

			if (!r)
				break;
			check(r, out + 1, out % 100);
			out++;
		}
		assert_true(in - out <= SLOTS);
	}
	for (; out < in; out++)
		check(xsk_ring_next(&b.r), out + 1, out % 100);
	assert_null(xsk_ring_next(&b.r));
	assert_all_slots_back(&b.kernels[0]);
	free(b.kernels);
}

/* Without slots the kernel must wait. A record stays unchanged until the next is requested. */
static void a_record_stays_until_the_next(void **state)
{
	const struct saluki_record *r;
	struct bed b;

	(void)state;
	setup(&b, 2, 0);
	for (uint64_t t = 1; put(&b.kernels[0], t, 100) == 0; t++)
		;
	put(&b.kernels[1], SLOTS + 1, 10);
	for (uint64_t t = 1; t <= SLOTS; t++) {
		r = xsk_ring_next(&b.r);
		while (put(&b.kernels[0], 1000, 5) == 0) /* into all slots it has by now */
			;
		check(r, t, 100);
	}
	check(xsk_ring_next(&b.r), SLOTS + 1, 10);
	check(xsk_ring_next(&b.r), 1000, 5);
	free(b.kernels);
}

/* A driver without slots sets a flag, and is woken when there are some again. */
static void a_driver_that_waits_is_woken(void **state)
{
	int socks[2];
	struct bed b;
	char c;

	(void)state;
	setup(&b, 1, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, socks), 0);
	assert_int_equal(send(socks[1], "1", 1, 0), 1);
	b.lanes[0].fd = socks[0];
	put(&b.kernels[0], 1, 1);
	check(xsk_ring_next(&b.r), 1, 1);
	assert_null(xsk_ring_next(&b.r));
	assert_int_equal(recv(socks[0], &c, 1, MSG_DONTWAIT | MSG_PEEK), 1); /* not requested */
	b.kernels[0].fill_flags = XDP_RING_NEED_WAKEUP;
	put(&b.kernels[0], 2, 1);
	check(xsk_ring_next(&b.r), 2, 1);
	assert_int_equal(recv(socks[0], &c, 1, MSG_DONTWAIT | MSG_PEEK), 1); /* none back yet */
	assert_null(xsk_ring_next(&b.r));
	assert_int_equal(recv(socks[0], &c, 1, MSG_DONTWAIT), -1);
	close(socks[0]);
	close(socks[1]);
	free(b.kernels);
}

#define STRESS 200000

static void *produce(void *kernel)
{
	for (uint64_t t = 1; t <= STRESS;)
		if (put(kernel, t, t * 2654435761u % 100) == 0)
			t++;
	return NULL;
}

static void two_queues_and_a_reader(void **state)
{
	uint64_t got = 0, last[2] = { 0 };
	pthread_t threads[2];
	struct bed b;

	(void)state;
	setup(&b, 2, UINT32_MAX - 1000);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &b.kernels[i]), 0);
	while (got < 2 * STRESS) {
		const struct saluki_record *r = xsk_ring_next(&b.r);
		long lane = b.r.lane - b.lanes;

		if (!r)
			continue;
		assert_int_equal(r->time_ns, ++last[lane]);
		assert_int_equal(r->kept_len, r->time_ns * 2654435761u % 100);
		assert_true(is_right(r));
		got++;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_null(xsk_ring_next(&b.r));
	for (int i = 0; i < 2; i++)
		assert_all_slots_back(&b.kernels[i]);
	free(b.kernels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_are_merged_by_time),
		cmocka_unit_test(every_slot_goes_round),
		cmocka_unit_test(a_record_stays_until_the_next),
		cmocka_unit_test(a_driver_that_waits_is_woken),
		cmocka_unit_test(two_queues_and_a_reader),
	};

	return cmocka_run_group_tests_name("xsk_ring", tests, NULL, NULL);
}
