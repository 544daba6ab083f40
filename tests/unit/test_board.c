// SPDX-License-Identifier: GPL-2.0
/* links: board/read.o common/privsep.o common/unix_take.o common/unix_address.o
 * common/log.o */
/* The board's reader: whatever is in the memory, its copies have ends, ranges and a known size. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "board/read.h"

static struct board *board;
static struct board_view view;

static int begin(void **state)
{
	int fd = memfd_create("test_board", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(ftruncate(fd, BOARD_BYTES), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	board = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(board != MAP_FAILED);
	assert_int_equal(board_map(&view, fd), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	board_close(&view);
	munmap(board, BOARD_BYTES);
	return 0;
}

static struct board_slot *slot_of(uint32_t n)
{
	return board_slot(board, n);
}

static struct board_interface *interface_of(uint32_t n, uint32_t i)
{
	return &slot_of(n)->interfaces[i];
}

static void sensor_put(uint32_t n, uint32_t i, struct board_sensor s)
{
	board_sensor_write(slot_of(n), i, &s);
}

/* State n: two sensors with an interface each, and two records of each other table; the time is
 * n. */
static void publish(uint32_t n)
{
	struct board_collector *c = &slot_of(n)->collector;

	*c = (struct board_collector){ .time_us = n,
				       .sensors = 2,
				       .interfaces = 2,
				       .channels = 2,
				       .modules = 2,
				       .groups = 2,
				       .refused = 2 };
	for (uint32_t i = 0; i < 2; i++) {
		slot_of(n)->channels[i] = (struct board_channel){ .interface = i };
		slot_of(n)->modules[i] = (struct board_module){ .sensor = i };
		slot_of(n)->groups[i] = (struct board_group){ .members = i };
		slot_of(n)->refused[i] = (struct board_refused){ .count = 1 };
		sensor_put(n, i, (struct board_sensor){ .id = i + 1, .counted = 1, .written = n });
		*interface_of(n, i) = (struct board_interface){ .sensor = i };
	}
	__atomic_store_n(&board->published, n, __ATOMIC_RELEASE);
}

static int copy(void)
{
	struct board_state now, before;
	int err = board_copy(&view, &now, &before);

	board_state_free(&now);
	board_state_free(&before);
	return err;
}

static void test_states(void **state)
{
	struct board_state now, before;

	(void)state;
	assert_int_equal(board_copy(&view, &now, &before), -ENODATA);
	publish(1);
	assert_int_equal(board_copy(&view, &now, &before), 0);
	assert_int_equal(now.collector.time_us, 1);
	assert_int_equal(before.collector.sensors, 0);
	board_state_free(&now);
	board_state_free(&before);
	for (uint32_t n = 2; n < 20; n++) {
		publish(n);
		assert_int_equal(board_copy(&view, &now, &before), 0);
		assert_int_equal(now.collector.time_us, n);
		assert_int_equal(before.sensors[1].written, n - 1);
		assert_int_equal(before.sensors[1].id, 2);
		board_state_free(&now);
		board_state_free(&before);
	}
}

/* A sensor without a run has no counters in the memory. */
static void test_not_counted(void **state)
{
	struct board_state now;

	(void)state;
	publish(1);
	memset(slot_of(1)->counts[0], 'x', BOARD_COUNTS_BYTES);
	sensor_put(1, 0, (struct board_sensor){ .id = 7, .written = 9 });
	assert_int_equal(board_copy(&view, &now, NULL), 0);
	assert_true(now.sensors[0].id == 7 && !now.sensors[0].written && !now.sensors[0].runs);
	board_state_free(&now);
}

/* A mistake in state 1, which must be found. */
#define LIE(mistake)                                                                               \
	do {                                                                                       \
		publish(1);                                                                        \
		mistake;                                                                           \
		assert_int_equal(copy(), -EBADMSG);                                                \
	} while (0)

static void test_lies(void **state)
{
	struct board_slot *s = slot_of(1);

	(void)state;
#define X(name, type, most) LIE(s->collector.name = (most) + 1);
	BOARD_TABLES(X)
#undef X
	LIE(s->collector.interfaces = UINT32_MAX);
	LIE(sensor_put(1, 1, (struct board_sensor){ .presence = BOARD_PRESENCES }));
	LIE(s->collector.sensors = BOARD_SENSORS_MAX + 1);
	LIE(sensor_put(1, 1, (struct board_sensor){ .address_len = BOARD_ADDRESS_MAX + 1 }));
	LIE(sensor_put(1, 0, (struct board_sensor){ .x = 1.0 / 0.0 }));
	LIE(sensor_put(1, 0, (struct board_sensor){ .y = __builtin_nan("") }));
	LIE(s->interfaces[0].sensor = 2);
	LIE(s->interfaces[0].sensor = 1; s->interfaces[1].sensor = 0);
	LIE(s->channels[1].interface = 2);
	LIE(s->channels[0].interface = 1; s->channels[1].interface = 0);
	LIE(s->modules[0].sensor = 7);
	LIE(s->refused[1].reason = BOARD_REASONS);
	LIE(s->refused[1].address_len = BOARD_ADDRESS_MAX + 1);
	LIE(s->collector.interfaces = BOARD_INTERFACES_EACH + 1; s->collector.channels = 0;
	    memset(s->interfaces, 0, sizeof(s->interfaces[0]) * (BOARD_INTERFACES_EACH + 1)));
	publish(1);
	assert_int_equal(copy(), 0);
}

static void test_texts_end(void **state)
{
	struct board_collector *c = &slot_of(1)->collector;
	struct board_sensor long_name = { 0 };
	struct board_state now;

	(void)state;
	publish(1);
	memset(c->file, 'x', sizeof(c->file));
	memset(c->version, 'x', sizeof(c->version));
	memset(long_name.name, 'x', BOARD_NAME_MAX);
	sensor_put(1, 0, long_name);
	sensor_put(1, 1, (struct board_sensor){ .application = "a\x1b[2Jb" });
	memset(interface_of(1, 0)->filter, 'x', sizeof(interface_of(1, 0)->filter));
	memset(slot_of(1)->modules[0].name, 'x', sizeof(slot_of(1)->modules[0].name));
	memset(slot_of(1)->groups[1].channels, 'x', sizeof(slot_of(1)->groups[1].channels));
	memcpy(slot_of(1)->refused[1].key, "a\nb", 4);
	assert_int_equal(board_copy(&view, &now, NULL), 0);
	assert_int_equal(strlen(now.modules[0].name), sizeof(now.modules[0].name) - 1);
	assert_int_equal(strlen(now.groups[1].channels), sizeof(now.groups[1].channels) - 1);
	assert_string_equal(now.refused[1].key, "a?b");
	assert_int_equal(strlen(now.collector.file), sizeof(c->file) - 1);
	assert_int_equal(strlen(now.collector.version), sizeof(c->version) - 1);
	assert_int_equal(strlen(now.sensors[0].name), BOARD_NAME_MAX - 1);
	assert_string_equal(now.sensors[1].application, "a?[2Jb");
	assert_int_equal(strlen(now.interfaces[0].filter), sizeof(now.interfaces[0].filter) - 1);
	board_state_free(&now);
}

static void noise(void *at, size_t len, unsigned int *seed)
{
	((uint8_t *)at)[rand_r(seed) % len] = rand_r(seed);
}

/* Any bytes: an error or a copy, and no access outside of it. */
static void test_noise(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		publish(1);
		for (int i = 0; i < 64; i++) {
			noise(&slot_of(1)->collector, sizeof(struct board_collector), &seed);
			noise(slot_of(1)->heads, 2 * BOARD_HEAD_BYTES, &seed);
			noise(slot_of(1)->counts, 2 * BOARD_COUNTS_BYTES, &seed);
#define X(name, type, most) noise(slot_of(1)->name, 2 * sizeof(type), &seed);
			BOARD_TABLES(X)
#undef X
		}
		copy();
	}
}

/* Memory that can shrink could end its reader. */
static void test_no_seal(void **state)
{
	struct board_view other = { 0 };
	int fd = memfd_create("test_board", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(ftruncate(fd, BOARD_BYTES), 0);
	assert_int_equal(board_map(&other, fd), -EPROTO);
}

static void test_another_size(void **state)
{
	struct board_view other = { 0 };
	int fd = memfd_create("test_board", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(ftruncate(fd, BOARD_BYTES - 1), 0);
	assert_int_equal(board_map(&other, fd), -EPROTO);
	assert_null(other.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states, begin, end),
		cmocka_unit_test_setup_teardown(test_not_counted, begin, end),
		cmocka_unit_test_setup_teardown(test_lies, begin, end),
		cmocka_unit_test_setup_teardown(test_texts_end, begin, end),
		cmocka_unit_test_setup_teardown(test_noise, begin, end),
		cmocka_unit_test(test_another_size),
		cmocka_unit_test(test_no_seal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
