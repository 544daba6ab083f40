// SPDX-License-Identifier: GPL-2.0
/* links: wire/board_read.o common/privsep.o common/unix_take.o common/unix_address.o
 * common/log.o */
/* The board's reader: whatever is in the memory, its copies have ends, ranges and a known size. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/board_read.h"

static struct board *board;
static struct board_view view;

static int begin(void **state)
{
	int fd = memfd_create("test_board", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(fd, BOARD_BYTES), 0);
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

static uint8_t *slot_of(uint32_t n)
{
	return (uint8_t *)board + BOARD_DATA + n % BOARD_SLOTS * BOARD_SLOT_BYTES;
}

static struct board_sensor *sensor_of(uint32_t n, uint32_t i)
{
	return (struct board_sensor *)(slot_of(n) + BOARD_SENSORS_AT) + i;
}

static struct board_interface *interface_of(uint32_t n, uint32_t i)
{
	return (struct board_interface *)(slot_of(n) + BOARD_INTERFACES_AT) + i;
}

/* State n: two sensors with an interface each; the time is n. */
static void publish(uint32_t n)
{
	struct board_collector *c = (void *)slot_of(n);

	*c = (struct board_collector){ .time_us = n, .sensors = 2, .interfaces = 2 };
	for (uint32_t i = 0; i < 2; i++) {
		*sensor_of(n, i) = (struct board_sensor){ .id = i + 1, .written = n };
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
		board_state_free(&now);
		board_state_free(&before);
	}
}

static void test_lies(void **state)
{
	struct board_collector *c = (void *)slot_of(1);

	(void)state;
	publish(1);
	c->sensors = BOARD_SENSORS_MAX + 1;
	assert_int_equal(copy(), -EBADMSG);
	publish(1);
	c->interfaces = UINT32_MAX;
	assert_int_equal(copy(), -EBADMSG);
	publish(1);
	sensor_of(1, 1)->presence = BOARD_PRESENCES;
	assert_int_equal(copy(), -EBADMSG);
	publish(1);
	sensor_of(1, 1)->address_len = BOARD_ADDRESS_MAX + 1;
	assert_int_equal(copy(), -EBADMSG);
	publish(1);
	interface_of(1, 0)->sensor = 2;
	assert_int_equal(copy(), -EBADMSG);
	publish(1);
	assert_int_equal(copy(), 0);
}

static void test_texts_end(void **state)
{
	struct board_collector *c = (void *)slot_of(1);
	struct board_state now;

	(void)state;
	publish(1);
	memset(c->file, 'x', sizeof(c->file));
	memset(c->version, 'x', sizeof(c->version));
	memset(sensor_of(1, 0)->name, 'x', BOARD_NAME_MAX);
	memcpy(sensor_of(1, 1)->application, "a\x1b[2Jb", 7);
	memset(interface_of(1, 0)->filter, 'x', sizeof(interface_of(1, 0)->filter));
	assert_int_equal(board_copy(&view, &now, NULL), 0);
	assert_int_equal(strlen(now.collector.file), sizeof(c->file) - 1);
	assert_int_equal(strlen(now.collector.version), sizeof(c->version) - 1);
	assert_int_equal(strlen(now.sensors[0].name), BOARD_NAME_MAX - 1);
	assert_string_equal(now.sensors[1].application, "a?[2Jb");
	assert_int_equal(strlen(now.interfaces[0].filter), sizeof(now.interfaces[0].filter) - 1);
	board_state_free(&now);
}

/* Any bytes: an error or a copy, and no access outside of it. */
static void test_noise(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint8_t *slot = slot_of(1);

		publish(1);
		for (int i = 0; i < 64; i++) {
			slot[rand_r(&seed) % sizeof(struct board_collector)] = rand_r(&seed);
			slot[BOARD_SENSORS_AT + rand_r(&seed) % (2 * sizeof(struct board_sensor))] =
				rand_r(&seed);
		}
		copy();
	}
}

static void test_another_size(void **state)
{
	struct board_view other = { 0 };
	int fd = memfd_create("test_board", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(fd, BOARD_BYTES - 1), 0);
	assert_int_equal(board_map(&other, fd), -EPROTO);
	assert_null(other.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states, begin, end),
		cmocka_unit_test_setup_teardown(test_lies, begin, end),
		cmocka_unit_test_setup_teardown(test_texts_end, begin, end),
		cmocka_unit_test_setup_teardown(test_noise, begin, end),
		cmocka_unit_test(test_another_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
