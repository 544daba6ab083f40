// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/written.o collector/output/late.o collector/output/pcapng.o
 * collector/output/pcapng_walk.o pcapng/combo_name.o wire/channel.o */
/* Names in files: written names are found, and a file truncated anywhere is cut back to whole
 * combos. */
#include "unit.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/output/written.h"

#define SENSOR 17
#define RUN 0x1122334455667788ULL

static uint8_t file[65536];
static size_t len, ends[32]; /* of combos */
static unsigned int combos;
static uint64_t first;

static void begin(void)
{
	len = pcapng_section(file, "Linux", "test", NULL, NULL);
	combos = 0;
	first = 0;
}

/* A combo of some frames, the second of another link type. */
static void combo(uint16_t sensor, uint64_t run, uint64_t count, uint32_t frames)
{
	struct pcapng_interface i = { .linktype = 127, .name = "lib:mon0" };
	struct combo_name name = {
		.run = run, .count = count, .first = first, .frames = frames, .sensor = sensor
	};
	struct combo_frame f = { .orig_len = 100, .data = (const uint8_t *)"0123456789" };

	for (uint32_t n = 0; n < frames; n++) {
		if (n == 1)
			len += pcapng_interface(file + len, &i);
		f.kept_len = n % 10;
		f.direction = n % 3;
		len += pcapng_packet(file + len, 0, &f, n ? NULL : &name);
	}
	first += frames;
	ends[combos++] = len;
}

/* Frames with dwells before each and after the last, so that a dwell's block has the name. */
static void combo_with_dwells(uint16_t sensor, uint64_t run, uint64_t count, uint32_t frames,
			      uint32_t dwells)
{
	const struct dwell d = { .mhz = 2412, .width = 20, .center = 2412, .to_ns = 5 };
	struct combo_name name = { .run = run,
				   .count = count,
				   .first = first,
				   .frames = frames,
				   .events = dwells,
				   .sensor = sensor };
	struct combo_frame f = { .kept_len = 3, .orig_len = 100, .data = (const uint8_t *)"abc" };

	for (uint32_t n = 0; n < frames || dwells; n++) {
		if (dwells) {
			len += pcapng_dwell(file + len, 0, &d, n ? NULL : &name);
			dwells--;
		}
		if (n < frames)
			len += pcapng_packet(file + len, 0, &f, NULL);
	}
	first += frames;
	ends[combos++] = len;
}

static int file_of(size_t bytes)
{
	int fd = memfd_create("names", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, file, bytes) == (ssize_t)bytes);
	return fd;
}

static int64_t scan(struct written *n, size_t from, size_t bytes)
{
	int fd = file_of(bytes);
	int64_t whole = written_scan(n, fd, from, bytes);

	close(fd);
	return whole;
}

static void what_is_written_is_found(void **state)
{
	struct written n = { 0 };
	const struct sensor_run *r;

	(void)state;
	begin();
	combo(SENSOR, RUN, 0, 3);
	combo(SENSOR, RUN, 1, 1);
	combo(SENSOR, RUN, 5, 2);
	assert_int_equal(scan(&n, 0, len), len);
	r = written_find(&n, SENSOR, RUN);
	assert_non_null(r);
	assert_true(r->next == 6 && r->accounted == 6);
	assert_null(written_find(&n, SENSOR, RUN + 1));
	assert_null(written_find(&n, SENSOR + 1, RUN));
	written_free(&n);
	assert_int_equal(scan(&n, ends[0], len), len); /* from the middle */
	assert_true(written_find(&n, SENSOR, RUN)->next == 6);
	written_free(&n);
}

static void a_combo_at(uint64_t count, uint64_t at, uint32_t frames)
{
	first = at;
	combo(SENSOR, RUN, count, frames);
}

/* Gaps of the state and in the file are found, and late combos fill them. */
static void gaps_are_found(void **state)
{
	const struct late_gap old = { .run = RUN, .from = 1, .to = 4, .first = 2, .end = 9 };
	struct written n = { .gaps = true };
	struct late l = { 0 }, again = { 0 };

	(void)state;
	begin();
	a_combo_at(8, 20, 1); /* a gap from 5 to 8 */
	a_combo_at(2, 5, 2);  /* in that of the state */
	a_combo_at(7, 19, 1);
	a_combo_at(0, 0, 2); /* it was there */
	written_put(&n, SENSOR, RUN, 5, 12);
	written_gap_put(&n, SENSOR, &old);
	assert_int_equal(scan(&n, 0, len), len);
	written_gaps(&n, SENSOR, &l);
	assert_int_equal(l.count, 3);
	assert_true(l.of[0].from == 1 && l.of[0].to == 2 && l.of[0].first == 2 && l.of[0].end == 5);
	assert_true(l.of[1].from == 3 && l.of[1].to == 4 && l.of[1].first == 7 && l.of[1].end == 9);
	assert_true(l.of[2].from == 5 && l.of[2].to == 7 && l.of[2].first == 12 &&
		    l.of[2].end == 19);
	written_gaps(&n, SENSOR, &again); /* given once */
	assert_int_equal(again.count, 0);
	written_free(&n);
}

/* A run's first combo may follow others, in files that are not there any more, unless the state
 * would have the run. */
static void a_gap_before_the_first(void **state)
{
	(void)state;
	begin();
	a_combo_at(3, 9, 2);
	for (int from_state = 0; from_state < 2; from_state++) {
		struct written n = { .gaps = true, .from_state = from_state };
		struct late l = { 0 };

		assert_int_equal(scan(&n, 0, len), len);
		written_gaps(&n, SENSOR, &l);
		assert_int_equal(l.count, from_state);
		written_free(&n);
	}
}

/* A combo of dwells only is found too; blocks between combos belong to none. */
static void dwells_are_of_their_combo(void **state)
{
	struct pcapng_statistics between = { .received = 9, .comment = "balance 0" };
	size_t section;

	(void)state;
	begin();
	section = len;
	combo_with_dwells(SENSOR, RUN, 0, 2, 3);
	len += pcapng_statistics(file + len, &between);
	ends[0] = len;
	combo_with_dwells(SENSOR, RUN, 1, 0, 2);
	combo(SENSOR, RUN, 2, 2);
	for (size_t cut = section; cut <= len; cut++) {
		struct written n = { 0 };
		int64_t whole = scan(&n, 0, cut);
		const struct sensor_run *r = written_find(&n, SENSOR, RUN);
		uint64_t next = r ? r->next : 0;

		if (cut >= ends[0]) {
			assert_int_equal(whole, cut < ends[1]	? ends[0]
						: cut < ends[2] ? ends[1]
								: ends[2]);
			assert_int_equal(next, cut < ends[1] ? 1 : cut < ends[2] ? 2 : 3);
			assert_int_equal(r->accounted, cut < ends[2] ? 2 : 4);
		} else {
			assert_true(next ? whole > (int64_t)section : whole == (int64_t)section);
		}
		written_free(&n);
	}
}

/* SIGKILL within a write: at every byte. */
static void a_file_cut_anywhere(void **state)
{
	size_t section;

	(void)state;
	begin();
	section = len;
	combo(SENSOR, RUN, 0, 4);
	combo(SENSOR + 1, RUN, 0, 2);
	combo(SENSOR, RUN, 1, 3);
	for (size_t cut = section; cut <= len; cut++) {
		struct written n = { 0 };
		int64_t whole = scan(&n, 0, cut);
		const struct sensor_run *r = written_find(&n, SENSOR, RUN);

		assert_int_equal(whole, cut < ends[0]	? section
					: cut < ends[1] ? ends[0]
					: cut < ends[2] ? ends[1]
							: ends[2]);
		assert_int_equal(r ? r->next : 0, cut < ends[0] ? 0 : cut < ends[2] ? 1 : 2);
		assert_int_equal(written_find(&n, SENSOR + 1, RUN) != NULL, cut >= ends[1]);
		written_free(&n);
	}
}

static void files_that_are_none(void **state)
{
	struct written n = { 0 };

	(void)state;
	begin();
	combo(SENSOR, RUN, 0, 4);
	combo(SENSOR, RUN, 1, 4);
	assert_int_equal(scan(&n, 0, 7), -EBADMSG);
	/* A length's middle byte, in host byte order. */
	file[ends[0] + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 5 : 6)] ^= 0x40;
	assert_int_equal(scan(&n, 0, len), -EBADMSG);
	assert_int_equal(scan(&n, ends[0] - 8, len), -EBADMSG); /* no block begins there */
	memcpy(file, "a letter to somebody", 20);
	assert_int_equal(scan(&n, 0, len), -EBADMSG);
	written_free(&n);
}

/* A file from a machine with the other byte order has none of our names, and stays unchanged. */
static void another_byte_order(void **state)
{
	static const uint8_t other[] = { 0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0,    28,   0x1a, 0x2b,
					 0x3c, 0x4d, 0,	   1,	 0, 0, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0, 0, 0,    28 };
	struct written n = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(other); i++) /* whichever this machine's is */
		file[i] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? other[i] : 0;
	if (file[0])
		assert_int_equal(scan(&n, 0, sizeof(other)), sizeof(other));
	written_free(&n);
}

static void the_last_runs_are_remembered(void **state)
{
	struct written n = { 0 };

	(void)state;
	for (uint64_t run = 1; run <= WRITTEN_RUNS; run++)
		assert_int_equal(written_put(&n, 3, run, run * 10, run * 100), 0);
	written_put(&n, 3, 1, 5, 2000); /* heard again; it never goes back */
	written_put(&n, 3, 99, 1, 1);
	assert_null(written_find(&n, 3, 2));
	assert_non_null(written_find(&n, 3, 3));
	assert_true(written_find(&n, 3, 1)->next == 10);
	assert_true(written_find(&n, 3, 1)->accounted == 2000);
	assert_true(n.of[3]->runs[0].run == 99);
	written_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_found),
		cmocka_unit_test(gaps_are_found),
		cmocka_unit_test(a_gap_before_the_first),
		cmocka_unit_test(dwells_are_of_their_combo),
		cmocka_unit_test(a_file_cut_anywhere),
		cmocka_unit_test(files_that_are_none),
		cmocka_unit_test(another_byte_order),
		cmocka_unit_test(the_last_runs_are_remembered),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
