// SPDX-License-Identifier: GPL-2.0
/* links: collector/live/combo.o collector/live/ring.o collector/live/blocks.o
 * collector/live/listen.o collector/files/handout.o collector/files/sealed_memory.o live/reader.o
 * live/source.o live/interfaces.o live/block.o live/directory.o live/remote.o */
/*
 * The live ring: the collector's writer and a viewer's reader. Each frame is read or counted as
 * missed, whether the reader keeps up, falls behind, or begins in the middle; also in two
 * processes.
 */
#include "unit.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/live/blocks.h"
#include "collector/live/live.h"
#include "collector/model/groups_file.h"
#include "collector/model/sensors.h"
#include "common/pcapng_format.h"
#include "live/block.h"
#include "live/directory.h"
#include "live/interfaces.h"
#include "live/reader.h"
#include "live/remote.h"

#define SIZE LIVE_BYTES_MIN

static struct live_socket ends;
static struct live live;
static struct source source;
static struct reader reader;
static struct interfaces interfaces;

/* ---- a collector's blocks -------------------------------------------------------------------- */

static uint8_t blocks[1 << 20];
static uint32_t len;

static void put32(uint32_t v)
{
	memcpy(blocks + len, &v, 4);
	len += 4;
}

static void interface(uint16_t linktype, const char *name)
{
	uint32_t padded = (strlen(name) + 3) & ~3u, total = 16 + 4 + padded + 4 + 4;

	put32(BLOCK_INTERFACE);
	put32(total);
	put32(linktype);
	put32(0);
	put32(2 | (uint32_t)strlen(name) << 16);
	memset(blocks + len, 0, padded);
	memcpy(blocks + len, name, strlen(name));
	len += padded;
	put32(0);
	put32(total);
}

static void packet(uint32_t of, uint64_t number, uint32_t bytes)
{
	uint32_t total = 28 + bytes + 4;

	put32(BLOCK_PACKET);
	put32(total);
	put32(of);
	put32(number >> 32);
	put32((uint32_t)number);
	put32(bytes);
	put32(bytes);
	memset(blocks + len, (uint8_t)number, bytes);
	len += bytes;
	put32(total);
}

/* The collector's output counts a section's interfaces. */
static void show(unsigned int section, uint32_t sensor, unsigned int frames)
{
	struct live_combo c = { section, 0, sensor, frames, blocks, len };
	struct block b;

	c.interfaces = section == live.section ? live.count : 0;
	for (uint32_t at = 0; at < len; at += b.len) {
		block_read(&b, blocks + at, len - at);
		c.interfaces += b.type == BLOCK_INTERFACE;
	}
	live_combo(&live, &c);
	len = 0;
}

/* A combo of `frames` frames, whose numbers follow on each other for each sensor. */
static uint64_t numbers[4];

static void combo(unsigned int section, uint32_t sensor, unsigned int frames, uint32_t bytes)
{
	for (unsigned int i = 0; i < frames; i++)
		packet(0, numbers[sensor]++, bytes);
	show(section, sensor, frames);
}

/* ---- both ends ------------------------------------------------------------------------------- */

static int setup(void **state)
{
	char path[64];
	const struct live_hello hello = { LIVE_MAGIC, LIVE_VERSION };
	int fds[LIVE_FDS];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_live.%d", getpid());
	ends = (struct live_socket)LIVE_SOCKET_NONE;
	assert_int_equal(live_make(&ends, &live, path, SIZE), 0);
	unlink(path);
	for (int i = 0; i < LIVE_FDS; i++)
		fds[i] = dup(ends.out.fds[i]);
	assert_int_equal(source_map(&source, &hello, fds), 0);
	assert_int_equal(interfaces_init(&interfaces), 0);
	memset(numbers, 0, sizeof(numbers));
	live.table->sensors = 4;
	interface(1, "first");
	return reader_begin(&reader, &source, false);
}

static int teardown(void **state)
{
	(void)state;
	reader_end(&reader);
	interfaces_free(&interfaces);
	source_unmap(&source);
	live_free(&live);
	live_socket_privileged(&ends, &live);
	live_socket_free(&ends);
	len = 0;
	return 0;
}

/* The reader's number of frames by sensor. */
static uint64_t seen[4], missed_of[4];

static void add(void *user, uint32_t sensor, uint64_t missed)
{
	(void)user;
	missed_of[sensor] += missed;
}

/* Each frame has the number that follows on those seen and missed before it. */
static void check(const struct live_record *r, const uint8_t *data)
{
	uint64_t next = seen[r->sensor] + missed_of[r->sensor];
	uint32_t frames = 0;
	struct block b;

	for (uint32_t at = 0; at < r->blocks_len; at += b.len) {
		assert_true(block_read(&b, data + at, r->blocks_len - at) > 0);
		assert_int_equal(b.time_ns, next + frames);
		for (uint32_t i = 0; i < b.kept_len; i++)
			assert_int_equal(b.data[i], (uint8_t)(next + frames));
		frames++;
	}
	assert_int_equal(frames, r->frames);
	seen[r->sensor] += frames;
}

/* Reads all records. */
static void drain(void)
{
	struct live_record r;
	const uint8_t *data;
	uint64_t missed;
	int got;

	while ((got = reader_next(&reader, &r, &data, &missed)) != READER_NOTHING) {
		assert_true(got >= 0);
		if (got == READER_OVERRUN)
			continue;
		missed_of[r.sensor] += missed;
		check(&r, data);
	}
	if (reader.overrun)
		reader_missed(&reader, add, NULL);
}

static void forget(void)
{
	memset(seen, 0, sizeof(seen));
	memset(missed_of, 0, sizeof(missed_of));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_reader_that_keeps_up(void **state)
{
	(void)state;
	forget();
	for (unsigned int i = 0; i < 20000; i++) {
		combo(1, i % 3, 1 + i % 40, (i % 7) * 4);
		if (i % 5 == 0)
			drain();
	}
	drain();
	for (int s = 0; s < 3; s++) {
		assert_int_equal(seen[s], numbers[s]);
		assert_int_equal(missed_of[s], 0);
	}
	assert_true(live.ring->head > SIZE);
}

/* A block about a whole sensor has no frames, and changes no number of frames. */
static void a_block_between_combos(void **state)
{
	uint32_t block[] = {
		BLOCK_STATISTICS, 36, 7, 0, 0, 4 << 16 | OPT_CLOCK, 0x12345678, 0, 36
	};
	struct live_record r;
	const uint8_t *data;
	uint64_t missed;
	struct block b;

	(void)state;
	forget();
	combo(1, 2, 5, 100);
	drain();
	live_block(&live, 2, (uint8_t *)block, sizeof(block));
	live_block(&live, LIVE_SENSORS_MAX, (uint8_t *)block, sizeof(block));
	combo(1, 2, 5, 100);
	assert_int_equal(reader_next(&reader, &r, &data, &missed), READER_RECORD);
	assert_int_equal(missed, 0);
	assert_int_equal(r.sensor, 2);
	assert_int_equal(r.frames, 0);
	assert_int_equal(r.len % 8, 0);
	assert_int_equal(r.blocks_len, sizeof(block));
	assert_int_equal(block_read(&b, data, r.blocks_len), sizeof(block));
	assert_true(b.is_clock);
	assert_true(b.interface == LIVE_ANY);
	assert_int_equal(b.options_len, 8);
	assert_memory_equal(b.options, block + 5, 8);
	drain();
	assert_int_equal(seen[2], 10);
	assert_int_equal(missed_of[2], 0);
}

static void a_reader_that_is_overrun(void **state)
{
	(void)state;
	forget();
	combo(1, 0, 10, 100);
	drain();
	for (unsigned int i = 0; i < 2 * SIZE / 10000; i++)
		combo(1, i % 2, 10, 1000);
	drain();
	assert_int_equal(seen[0], 10);
	for (int s = 0; s < 2; s++)
		assert_int_equal(seen[s] + missed_of[s], numbers[s]);
	combo(1, 1, 7, 100);
	drain();
	assert_int_equal(seen[1], 7);
	assert_int_equal(seen[1] + missed_of[1], numbers[1]);
}

static void a_reader_that_begins_in_the_middle(void **state)
{
	(void)state;
	forget();
	combo(1, 0, 10, 100);
	combo(1, 1, 5, 100);
	reader_end(&reader);
	assert_int_equal(reader_begin(&reader, &source, false), 0);
	missed_of[0] = 10; /* check() counts them; the reader does not */
	combo(1, 0, 3, 100);
	drain();
	assert_int_equal(seen[0], 3);
	assert_int_equal(missed_of[0], 10);
}

/* Until somebody looks, combos are only counted. A reader from the oldest record on has missed
 * them. */
static void nobody_has_looked(void **state)
{
	(void)state;
	forget();
	live_tick(&live, 1);
	assert_int_equal(*ends.wanted, LIVE_AWAITED);
	live_tick(&live, 2 + LIVE_AWAITED_NS);
	combo(1, 1, 5, 40);
	assert_int_equal(live.ring->head, 0);
	*ends.wanted = LIVE_LOOKED_AT;
	live_tick(&live, 3 + LIVE_AWAITED_NS);
	assert_int_equal(*ends.wanted, LIVE_LOOKED_AT);
	reader_end(&reader);
	assert_int_equal(reader_begin(&reader, &source, true), 0);
	combo(1, 1, 3, 40);
	drain();
	assert_int_equal(seen[1], 3);
	assert_int_equal(missed_of[1], 5);
}

static void a_reader_that_begins_at_the_oldest(void **state)
{
	(void)state;
	forget();
	combo(1, 0, 10, 100);
	reader_end(&reader);
	assert_int_equal(reader_begin(&reader, &source, true), 0);
	drain();
	assert_int_equal(seen[0], 10);
	for (unsigned int i = 0; i < 2 * SIZE / 10000; i++)
		combo(1, 0, 10, 1000);
	forget();
	reader_end(&reader);
	assert_int_equal(reader_begin(&reader, &source, true), 0);
	drain();
	assert_int_equal(missed_of[0], numbers[0]);
}

static int block_of(const struct live_record *r, const uint8_t *data, int *is_new)
{
	struct block b;

	assert_true(block_read(&b, data, r->blocks_len) > 0);
	return interfaces_find(&interfaces, &source, r, b.interface, is_new);
}

static int next_interface(int *is_new)
{
	struct live_record r;
	const uint8_t *data;
	uint64_t missed;

	assert_int_equal(reader_next(&reader, &r, &data, &missed), READER_RECORD);
	return block_of(&r, data, is_new);
}

static void sections_have_the_same_interfaces(void **state)
{
	int is_new;

	(void)state;
	combo(1, 0, 1, 0);
	assert_int_equal(next_interface(&is_new), 0);
	assert_true(is_new);
	interface(1, "other"); /* number 0 of the next section */
	interface(1, "first");
	combo(2, 0, 1, 0);
	assert_int_equal(next_interface(&is_new), 1);
	assert_true(is_new);
	packet(1, 0, 0);
	show(2, 0, 1);
	assert_int_equal(next_interface(&is_new), 0);
	assert_false(is_new);
	assert_string_equal((char *)interfaces.list[1].block + 20, "other");
}

/* Far more sections than a half has room for. */
static void halves_are_begun_again(void **state)
{
	char name[600];
	int is_new;

	(void)state;
	combo(1, 0, 1, 0);
	next_interface(&is_new);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (unsigned int i = 0; live.generation < 5; i++) {
		interface(1, "first");
		interface(1, name);
		combo(2 + i, 0, 1, 0);
		assert_int_equal(next_interface(&is_new), 0);
		assert_false(is_new);
	}
	/* One section whose interfaces do not fit: those without a block are not shown. */
	for (unsigned int i = 0; i < 2 * LIVE_HALF / 600; i++) {
		interface(1, name);
		show(UINT32_MAX, 0, 0);
	}
	forget();
	drain();
	packet(live.count - 1, 0, 0);
	show(UINT32_MAX, 0, 1);
	assert_true(next_interface(&is_new) >= 0);
}

static void a_block_that_was_overwritten(void **state)
{
	struct live_record r;
	const uint8_t *data;
	uint64_t missed;
	int is_new;

	(void)state;
	combo(1, 0, 1, 0);
	assert_int_equal(reader_next(&reader, &r, &data, &missed), READER_RECORD);
	live.table->generation = r.generation + 2;
	assert_int_equal(block_of(&r, data, &is_new), -ENOENT);
}

static void sensors_have_names_and_groups(void **state)
{
	static struct sensor one = { .name = "lib-1",
				     .id = 7,
				     .group_name = "library",
				     .listed = true },
			     two = { .name = "lib-2", .id = 9 };
	struct sensor *list[] = { &one, &two };
	struct sensors all = { .list = list, .count = 2 };
	struct directory d = { 0 };

	(void)state;
	live_sensors(&live, &all);
	assert_true(directory_update(&d, &source));
	assert_false(directory_update(&d, &source));
	assert_int_equal(d.count, 2);
	assert_string_equal(d.list[0].name, "lib-1");
	assert_string_equal(d.list[0].group, "library");
	assert_int_equal(d.list[0].id, 7);
	assert_int_equal(d.list[0].listed, 1);
	assert_string_equal(d.list[1].group, "");
	live.table->sensors_seq++; /* in the middle of a change */
	assert_false(directory_update(&d, &source));
	directory_free(&d);
}

static void nobody_else_writes(void **state)
{
	int fd = ends.out.fds[LIVE_FD_RING];

	(void)state;
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	assert_int_equal(errno, EPERM);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 2 * SIZE), -1);
}

static void words_for_another_machine_are_quoted(void **state)
{
	struct live_options o = { .sensors = "lib", .group = "it's", .count = 7 };
	char command[200], shortest[20];

	(void)state;
	o.expression = "host $(id) and \"x\" | `y`; '";
	assert_int_equal(remote_command(&o, command, sizeof(command)), 0);
	assert_string_equal(command, "saluki-live -w - '--sensor' 'lib' '--group' 'it'\\''s' "
				     "'--frames' '7' '--' 'host $(id) and \"x\" | `y`; '\\''"
				     "'");
	assert_int_equal(remote_command(&o, shortest, sizeof(shortest)), -ENAMETOOLONG);
}

/* A process writes at full speed. Every frame is seen whole, or missed. */
static void two_processes(void **state)
{
	enum { COMBOS = 30000, FRAMES = 12 };
	pid_t child;
	int status;
	uint64_t all;

	(void)state;
	forget();
	child = fork();
	if (child == 0) {
		for (unsigned int i = 0; i < COMBOS; i++)
			combo(1, i % 4, FRAMES, 200 + i % 50 * 4);
		_exit(0);
	}
	while (waitpid(child, &status, WNOHANG) == 0)
		drain();
	do
		drain();
	while (reader.overrun);
	all = 0;
	for (int s = 0; s < 4; s++)
		all += seen[s] + missed_of[s];
	assert_int_equal(all, (uint64_t)COMBOS * FRAMES);
}

int main(void)
{
#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		LIVE_TEST(a_reader_that_keeps_up),
		LIVE_TEST(a_block_between_combos),
		LIVE_TEST(a_reader_that_is_overrun),
		LIVE_TEST(a_reader_that_begins_in_the_middle),
		LIVE_TEST(nobody_has_looked),
		LIVE_TEST(a_reader_that_begins_at_the_oldest),
		LIVE_TEST(sections_have_the_same_interfaces),
		LIVE_TEST(halves_are_begun_again),
		LIVE_TEST(a_block_that_was_overwritten),
		LIVE_TEST(sensors_have_names_and_groups),
		LIVE_TEST(nobody_else_writes),
		cmocka_unit_test(words_for_another_machine_are_quoted),
		LIVE_TEST(two_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
