// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/output.o collector/output/output_flush.o collector/output/output_rotate.o
 * collector/output/output_sink.o collector/sink/sink.o collector/sink/window.o
 * collector/sink/connection.o collector/model/sensor_record.o wire/put.o wire/put_text.o
 * collector/model/sensors_file.o collector/model/groups_file.o wire/dictionary.o wire/key_text.o
 * collector/output/output_hold.o collector/output/budget.o
 * collector/output/output_file.o collector/output/recover.o archive/index_read.o
 * archive/index_cursor.o archive/index_hash.o collector/files/serve.o collector/files/ask.o
 * collector/files/limit.o collector/files/replaced.o collector/files/series.o archive/series_name.o
 * collector/files/ring.o collector/output/state.o collector/output/written.o
 * collector/output/late.o collector/output/pcapng.o collector/output/pcapng_walk.o
 * pcapng/combo_name.o collector/output/interfaces.o collector/model/linktypes.o
 * collector/model/ledger.o collector/model/sensors.o collector/model/free_space.o wire/info.o
 * wire/totals.o wire/keys.o collector/model/coverage.o collector/output/event_json.o
 * collector/output/event_log.o collector/output/event_log_files.o
 * collector/output/event_log_recover.o collector/files/event_log.o wire/channel.o wire/dwell.o
 * wire/module_event.o collector/output/output_clock.o collector/live/combo.o collector/live/ring.o
 * collector/live/blocks.o */
/*
 * Output with the privileged process that opens its files. Combos are settled when written, and a
 * collector that ended in any way leaves its names to the next one.
 */
#include "files_unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "collector/output/interfaces.h"
#include "collector/output/output.h"
#include "collector/output/output_clock.h"
#include "collector/output/output_hold.h"
#include "collector/output/sensor.h"
#include "common/pcapng_format.h"

#define RUN 0x1122334455667788ULL

static char folder[64];
static struct collector_options options;
static struct output *out;
static struct sensor sensors[2];
static struct output_sensor part[2];
static struct sensor *list[2] = { &sensors[0], &sensors[1] };
static struct sensors all = { .list = list, .count = 2 };
static struct signals orders = { .sock = -1 };
static unsigned int listed = 2; /* sensors listed, in the privileged process */

/* Starts both halves. Returns the result of output_init. */
static int start(void)
{
	privileged_start(&options, listed);
	memset(sensors, 0, sizeof(sensors));
	memset(part, 0, sizeof(part));
	for (int i = 0; i < 2; i++) {
		sensors[i].output = &part[i];
		sensors[i].id = 17 + i;
		snprintf(sensors[i].name, sizeof(sensors[i].name), "sensor%d", i);
		ledger_run_start(&sensors[i].ledger, RUN + i, 0);
	}
	out = calloc(1, sizeof(*out));
	return output_init(out, &options, &all, sock, &orders);
}

/* Ends both, in order or as SIGKILL does. */
static void stop(bool in_order)
{
	for (int i = 0; i < 2; i++)
		sensors_not_due(&sensors[i]);
	if (in_order) {
		output_finish(out);
	} else {
		close(out->fd);
		event_log_free(&out->lines);
		written_free(&out->names);
	}
	free(out);
	privileged_stop();
}

static void run_begin(int i)
{
	const struct sensor_run *known = written_find(&out->names, sensors[i].id, RUN + i);

	output_run_begin(out, &sensors[i], RUN + i, known ? known->next : 0,
			 known ? known->accounted : 0);
}

/* A combo of two frames in the buffer. */
static void combo(int i, uint64_t count)
{
	static const uint8_t bytes[60];
	struct combo_frame f = { .linktype = 1, .orig_len = 60, .kept_len = 60, .data = bytes };
	struct combo_name name = { .count = count, .first = 2 * count, .frames = 2 };

	assert_true(output_reserve(out, &name, 120, 1));
	assert_int_equal(ledger_combo(&sensors[i].ledger, name.first, 2), 0);
	output_combo(out, &sensors[i], name);
	for (f.time_ns = 1; f.time_ns <= 2; f.time_ns++)
		output_frame(out, &sensors[i], &f, 1);
}

/* A combo of dwells only, of two interfaces in turn. */
static void combo_of_dwells(int i, uint64_t count, uint64_t first, uint16_t dwells)
{
	struct combo_name name = { .count = count, .first = first, .events = dwells };
	struct dwell d = { .mhz = 2412, .width = 20, .center = 2412, .from_ns = 1, .to_ns = 9 };

	assert_true(output_reserve(out, &name, 0, 1));
	assert_int_equal(ledger_combo(&sensors[i].ledger, first, 0), 0);
	output_combo(out, &sensors[i], name);
	for (uint16_t n = 0; n < dwells; n++) {
		d.interface = n % 2;
		coverage_add(&sensors[i].coverage, &d);
		output_dwell(out, &sensors[i], &d, 1);
	}
}

/* A combo of module events: two of each of two modules, in turn. */
static void combo_of_words(int i, uint64_t count)
{
	struct combo_name name = { .count = count, .events = 4 };
	struct module_event said = { .len = 1 };

	assert_true(output_reserve(out, &name, 0, 1));
	output_combo(out, &sensors[i], name);
	for (unsigned int n = 0; n < 4; n++) {
		snprintf(said.name, sizeof(said.name), "module%u", n % 2);
		said.bytes[0] = count;
		output_module_event(out, &sensors[i], &said, n, 1);
	}
}

static void flush(void)
{
	output_tick(out, out->opened_ns + OUTPUT_FLUSH_NS);
}

static uint64_t known(int i)
{
	const struct sensor_run *r = written_find(&out->names, sensors[i].id, RUN + i);

	assert_true(!r || r->accounted == 2 * r->next);
	return r ? r->next : 0;
}

static const char *path(const char *name)
{
	static char text[4][PATH_MAX];
	static unsigned int next;

	snprintf(text[next % 4], sizeof(text[0]), "%s/%s", folder, name);
	return text[next++ % 4];
}

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/saluki-output-XXXXXX");
	assert_non_null(mkdtemp(folder));
	options = (struct collector_options){ .write = folder };
	return 0;
}

static int end(void **state)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	(void)state;
	while ((e = readdir(d)))
		unlink(path(e->d_name));
	closedir(d);
	return rmdir(folder);
}

static void settled_is_what_is_written(void **state)
{
	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
	combo(0, 0);
	combo(0, 1);
	combo(1, 0);
	assert_int_equal(sensors[0].output->settled, 0);
	output_passed(out, &sensors[1], 5, 10); /* after the buffered combos */
	assert_int_equal(sensors[1].output->settled, 0);
	flush();
	assert_int_equal(sensors[0].output->settled, 2);
	assert_int_equal(sensors[1].output->settled, 5);
	assert_true(sensors[0].due_ns && sensors[1].due_ns);
	assert_int_equal(sensors[0].ledger.now.written, 4);
	output_passed(out, &sensors[0], 9, 18); /* nothing is pending */
	assert_int_equal(sensors[0].output->settled, 9);
	stop(true);
}

/* Also if the combo is its sensor's first in the file, and as large as possible. */
static void combos_of_dwells_are_settled_too(void **state)
{
	const struct sensor_run *r;

	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	combo_of_dwells(0, 0, 0, COMBO_EVENTS_MAX);
	assert_int_equal(out->interfaces, 2);
	assert_int_equal(sensors[0].output->settled, 0);
	flush();
	assert_int_equal(sensors[0].output->settled, 1);
	combo(0, 1); /* whose first frame is the run's third: two are missing */
	flush();
	combo_of_dwells(0, 2, 4, 1);
	flush();
	assert_int_equal(out->interfaces, 3); /* its frames are of another link type */
	coverage_free(&sensors[0].coverage);
	stop(false);
	assert_int_equal(unlink(path("saluki.state")), 0);
	assert_int_equal(start(), 0);
	r = written_find(&out->names, sensors[0].id, RUN);
	assert_non_null(r);
	assert_true(r->next == 3 && r->accounted == 4);
	stop(true);
}

/* The statistics written for a sensor's runs count against its own share, as its frames do. */
static void statistics_are_charged(void **state)
{
	uint64_t size, recent;

	(void)state;
	assert_int_equal(start(), 0);
	for (int i = 0; i < 2; i++) {
		run_begin(i);
		interfaces_begin(&sensors[i], out->section, 1);
		combo(i, 0);
		combo_of_dwells(i, 1, 2, 10);
	}
	flush();
	assert_true(out->budget.on);
	size = out->size;
	recent = out->budget.recent;
	output_run_end(out, &sensors[0]);
	assert_true(out->size + out->len >= size + 100);
	assert_in_range(out->budget.recent, recent + (out->size + out->len - size) * 9 / 10,
			UINT64_MAX);
	size = out->size + out->len;
	sensors[1].output->disk_spent = UINT64_MAX; /* it has used its share */
	output_run_end(out, &sensors[1]);
	assert_int_equal(out->size + out->len, size);
	for (int i = 0; i < 2; i++)
		coverage_free(&sensors[i].coverage);
	stop(true);
}

/* Combos in the buffer at SIGKILL were not settled. The files name the settled ones. */
static void known_after_a_kill(void **state)
{
	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
	combo(0, 0);
	flush();
	combo(1, 0);
	combo(0, 1);
	flush();
	combo(0, 2);
	stop(false);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 2);
	assert_int_equal(known(1), 1);
	run_begin(0);
	combo(0, 2);
	flush();
	stop(false);
	assert_int_equal(unlink(path("saluki.state")), 0); /* then they are in all files */
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 3);
	assert_int_equal(known(1), 1);
	stop(true);
}

/* A combo of two frames, which begins and ends with readings. */
static void combo_with_readings(int i, uint64_t count)
{
	static const uint8_t bytes[60];
	const struct clock_readings r = { 2, { { 1, 2, 3 }, { 4, 5, 6 } } };
	struct combo_frame f = { .linktype = 1, .orig_len = 60, .kept_len = 60, .data = bytes };
	struct combo_name name = { .count = count, .first = 2 * count, .frames = 2, .events = 2 };

	assert_true(output_reserve(out, &name, 120, 1));
	assert_int_equal(ledger_combo(&sensors[i].ledger, name.first, 2), 0);
	output_combo(out, &sensors[i], name);
	output_readings(out, &sensors[i], &r, &f, 1);
	for (f.time_ns = 1; f.time_ns <= 2; f.time_ns++)
		output_frame(out, &sensors[i], &f, 1);
	output_readings(out, &sensors[i], &r, NULL, 1);
	output_combo_end(out, &sensors[i], out->opened_ns);
}

/* Returns the number of clock options of a kind in the last file. */
static unsigned int clock_blocks(uint8_t kind)
{
	const uint8_t want[] = { 0, 0, 0x7e, 0xd9, kind };
	static uint8_t bytes[65536];
	unsigned int found = 0;
	FILE *f = fopen(out->name, "r");
	ssize_t len = fread(bytes, 1, sizeof(bytes), f);

	fclose(f);
	for (ssize_t at = 4; at + (ssize_t)sizeof(want) <= len; at++)
		found += !memcmp(bytes + at, want, sizeof(want)) &&
			 bytes[at - 4] + 256 * bytes[at - 3] == OPT_CLOCK;
	return found;
}

/* Combos with readings are known by their names too, and none of their blocks is cut off. */
static void readings_are_known_after_a_kill(void **state)
{
	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	combo_with_readings(0, 0);
	combo_with_readings(0, 1);
	assert_int_equal(out->interfaces, 1);
	flush();
	combo_with_readings(0, 2);
	stop(false);
	assert_int_equal(unlink(path("saluki.state")), 0);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 2);
	stop(true);
}

/* A file has an offset behind a combo, if the last one is old or differs. It has no watermarks. */
static void offsets_in_a_file(void **state)
{
	const uint64_t second = 1000000000ULL;
	uint64_t now;

	(void)state;
	assert_int_equal(start(), 0);
	now = out->opened_ns;
	run_begin(0);
	output_offset(out, &sensors[0], -5, 100, now);
	output_watermark(out, &sensors[0], 77, now);
	assert_int_equal(out->len, 0);
	combo_with_readings(0, 0);
	output_offset(out, &sensors[0], -6, 100, now + second);
	output_watermark(out, &sensors[0], 78, now + second);
	combo_with_readings(0, 1);
	output_offset(out, &sensors[0], -6 - 2 * OFFSET_MUCH_NS, 100, now + 2 * second);
	combo_with_readings(0, 2);
	combo_with_readings(0, 3);
	flush();
	assert_int_equal(clock_blocks(CLOCK_READINGS), 8);
	assert_int_equal(clock_blocks(CLOCK_OFFSET), 2);
	assert_int_equal(clock_blocks(CLOCK_WATERMARK), 0);
	output_offset_due(out, &sensors[0], now + OFFSET_FILE_NS);
	flush();
	assert_int_equal(clock_blocks(CLOCK_OFFSET), 3);
	stop(true);
}

static void known_after_an_end(void **state)
{
	(void)state;
	assert_int_equal(start(), 0);
	out->state.floor_ns = 12345;
	run_begin(0);
	combo(0, 0);
	flush();
	output_passed(out, &sensors[0], 4, 8); /* lost, so in no file */
	stop(true);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 4);
	assert_true(out->state.floor_ns == 12345);
	stop(true);
}

static size_t file_read(const char *name, uint8_t *bytes, size_t size)
{
	FILE *f = fopen(name, "r");
	size_t len;

	assert_non_null(f);
	len = fread(bytes, 1, size, f);
	fclose(f);
	return len;
}

static void file_write(const char *name, const uint8_t *bytes, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* The last file was being written: both it and the names end with a whole combo. */
static void a_torn_file(void **state)
{
	static uint8_t bytes[65536];
	char name[PATH_MAX];
	size_t one, len;

	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	combo(0, 0);
	flush();
	one = out->size;
	combo(0, 1);
	flush();
	strcpy(name, out->name);
	stop(false);
	len = file_read(name, bytes, sizeof(bytes));
	for (size_t cut = one; cut < len; cut += 31) {
		file_write(name, bytes, cut);
		unlink(path("saluki.state")); /* which would know better by then */
		assert_int_equal(start(), 0);
		assert_int_equal(known(0), 1);
		stop(false);
		assert_int_equal(file_read(name, bytes + 32768, 32768), one);
		assert_memory_equal(bytes, bytes + 32768, one);
	}
}

/* One file that is appended to, with a state that covers half of it. */
static void a_single_file(void **state)
{
	(void)state;
	options.write = path("out.pcapng");
	for (uint64_t n = 0; n < 4; n++) {
		assert_int_equal(start(), 0);
		assert_int_equal(known(0), n);
		run_begin(0);
		combo(0, n);
		flush();
		stop(n & 1);
	}
	assert_int_equal(truncate(path("out.pcapng.state"), 40), 0); /* damaged */
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 4);
	stop(true);
}

static void a_rotated_series(void **state)
{
	(void)state;
	options.write = path("lib.pcapng");
	options.rotate_s = 1;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
	combo(1, 0);
	for (uint64_t n = 0; n < 20; n++) {
		combo(0, n);
		flush();
		output_tick(out, out->opened_ns + 1000000000);
	}
	combo(0, 20);
	flush();
	stop(false);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 21);
	assert_int_equal(known(1), 1);
	assert_non_null(strstr(out->name, "_00022_")); /* it goes on counting */
	stop(true);
}

static unsigned int capture_files(void)
{
	DIR *d = opendir(folder);
	unsigned int count = 0;
	struct dirent *e;

	while ((e = readdir(d)))
		count += strstr(e->d_name, ".pcapng") && !strstr(e->d_name, ".state");
	closedir(d);
	return count;
}

/* In a period without frames no file begins. */
static void no_files_of_idle_periods(void **state)
{
	char before[PATH_MAX];
	uint64_t size;

	(void)state;
	options.write = path("lib.pcapng");
	options.rotate_s = 1;
	options.rotate_count = 3;
	assert_int_equal(start(), 0);
	run_begin(0);
	for (uint64_t n = 0; n < 4; n++) {
		struct combo_name name = { .count = n, .first = 2 * n, .frames = 2 };

		combo(0, n);
		flush();
		strcpy(before, out->name);
		size = out->size;
		output_tick(out, out->opened_ns + 1000000000);
		assert_true(out->size > size); /* its statistics are written at its end, once */
		size = out->size;
		for (uint64_t idle = 2; idle < 20; idle++)
			output_tick(out, out->opened_ns + idle * 1000000000);
		assert_int_equal(out->size, size);
		assert_string_equal(out->name, before);
		assert_true(output_reserve(out, &name, 120, out->opened_ns + 20000000000));
		assert_string_not_equal(out->name, before);
		assert_int_equal(access(before, F_OK), 0);
		assert_int_equal(capture_files(), n < 1 ? 2 : 3); /* this one is in the ring */
	}
	combo(0, 4);
	stop(true);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 5);
	assert_int_equal(capture_files(), 3);
	stop(true);
}

/* ---- a full disk ----------------------------------------------------------------------------- */

/* Limits the file size to `bytes`. */
static void file_may_grow_to(uint64_t bytes)
{
	struct rlimit l = { .rlim_max = RLIM_INFINITY, .rlim_cur = bytes };

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void try_again(void)
{
	out->hold.tried_ns = 0;
	flush();
}

/* A file size limit, which no waiting lifts: in a series the next file begins before it. */
static void the_next_file_before_the_largest(void **state)
{
	static const struct {
		uint64_t bytes, s;
	} rotate[] = { { 0, 0 }, { 0, 3600 }, { 1ULL << 40, 0 } };
	const struct combo_name name = { .count = 250, .frames = 2 };
	struct stat st;
	char first[PATH_MAX];

	(void)state;
	file_may_grow_to(OUTPUT_BUFFER + 40000);
	for (unsigned int n = 0; n < 3; n++) {
		options.rotate_bytes = rotate[n].bytes;
		options.rotate_s = rotate[n].s;
		assert_int_equal(start(), 0);
		strcpy(first, out->name);
		run_begin(0);
		for (int count = 0; count < 250; count++) {
			combo(0, count);
			flush();
			assert_int_equal(sensors[0].output->settled, count + 1);
		}
		assert_string_not_equal(out->name, first);
		assert_int_equal(stat(first, &st), 0);
		assert_in_range(st.st_size, 39000, 41000);
		/* If no new file can be opened, the output waits before it takes anything. */
		out->no_rotation_until_ns = UINT64_MAX;
		out->size += OUTPUT_BUFFER;
		assert_false(output_reserve(out, &name, 120, 1));
		assert_true(out->hold.on && !out->len);
		out->no_rotation_until_ns = 0;
		try_again();
		assert_false(out->hold.on);
		assert_true(output_reserve(out, &name, 120, 1));
		assert_int_equal(sensors[0].ledger.now.lost_disk, 0);
		assert_int_equal(out->write_errors, 0);
		stop(true);
		assert_int_equal(unlink(path("saluki.state")), 0);
	}
	file_may_grow_to(RLIM_INFINITY);
}

/* While no next file can be opened, only data that fits into this one is written. */
static void a_full_file_is_followed_when_one_can_be(void **state)
{
	const struct combo_name name = { .count = 9999, .frames = 2 };
	uint64_t now_ns;
	char away[80];
	int taken = 0;

	(void)state;
	file_may_grow_to(OUTPUT_BUFFER + 200000);
	assert_int_equal(start(), 0);
	run_begin(0);
	for (int count = 0; count < 1000; count++) {
		combo(0, count);
		flush();
	}
	snprintf(away, sizeof(away), "%s-away", folder);
	assert_int_equal(rename(folder, away), 0);
	now_ns = out->opened_ns;
	for (int count = 1000; out->size + 100000 < out->size_max; count++) {
		combo(0, count);
		flush();
	}
	for (int i = 0; i < 1500; i++) { /* four hours */
		now_ns += 10000000001ULL;
		hold_try_now(out);
		output_tick(out, now_ns);
		if (output_reserve(out, &name, 120, now_ns))
			combo(0, 100000 + i);
		assert_false(out->hold.on && out->len);
	}
	assert_int_equal(rename(away, folder), 0);
	for (int i = 0; i < 100; i++) {
		now_ns += 20000000001ULL;
		hold_try_now(out);
		output_tick(out, now_ns);
		taken += output_reserve(out, &name, 120, now_ns);
	}
	assert_true(taken > 0);
	file_may_grow_to(RLIM_INFINITY);
	stop(true);
}

/* The buffer keeps its data, and writes it once. */
static void a_full_disk_is_waited_for(void **state)
{
	const struct combo_name name = { .count = 3, .frames = 2 };
	uint64_t size;

	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
	combo(0, 0);
	flush();
	size = out->size;
	combo(0, 1);
	combo(1, 0);
	file_may_grow_to(size + 100);
	flush();
	assert_true(out->hold.on && output_holds(out, &sensors[1]));
	assert_false(output_reserve(out, &name, 120, 1));
	assert_int_equal(lseek(out->fd, 0, SEEK_END), size); /* no part of it */
	assert_int_equal(sensors[0].output->settled, 1);
	assert_int_equal(sensors[0].ledger.pending, 2);
	output_passed(out, &sensors[0], 2, 4);
	try_again();
	assert_true(out->hold.on);
	assert_int_equal(out->hold.count, 1);
	assert_false(output_is_written(out, &sensors[0]));
	file_may_grow_to(RLIM_INFINITY);
	assert_true(out->hold.on); /* no attempt yet */
	try_again();
	assert_false(out->hold.on);
	assert_int_equal(sensors[0].output->settled, 2);
	assert_int_equal(sensors[1].output->settled, 1);
	assert_int_equal(sensors[0].ledger.now.written, 4);
	assert_int_equal(sensors[0].ledger.now.lost_disk, 0);
	assert_int_equal(out->write_errors, 0);
	combo(0, 2);
	flush();
	stop(false);
	unlink(path("saluki.state"));
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 3);
	assert_int_equal(known(1), 1);
	stop(true);
}

/* Nothing is settled, as the sensors still have it, except the combos of one-way sensors, which do
 * not. */
static void the_end_on_a_full_disk(void **state)
{
	uint64_t size;

	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
	sensors[1].up = sensors[1].no_acks = true;
	size = out->size;
	combo(0, 0);
	combo(1, 0);
	file_may_grow_to(size + 100);
	flush();
	assert_true(out->hold.on);
	output_finish(out);
	assert_int_equal(sensors[0].ledger.pending, 2);
	assert_int_equal(sensors[0].ledger.now.lost_disk, 0);
	assert_int_equal(sensors[1].ledger.now.lost_disk, 2);
	file_may_grow_to(RLIM_INFINITY);
	stop(false);
	assert_int_equal(start(), 0);
	assert_int_equal(known(0), 0);
	assert_int_equal(known(1), 1);
	stop(true);
}

/* No new file begins while the last combos of the present one wait. */
static void no_rotation_on_a_full_disk(void **state)
{
	char name[PATH_MAX];

	(void)state;
	options.write = path("lib.pcapng");
	options.rotate_s = 1;
	assert_int_equal(start(), 0);
	strcpy(name, out->name);
	run_begin(0);
	combo(0, 0);
	file_may_grow_to(out->size + 100);
	output_tick(out, out->opened_ns + 1000000000);
	assert_true(out->hold.on);
	assert_string_equal(out->name, name);
	assert_int_equal(sensors[0].output->settled, 0);
	file_may_grow_to(RLIM_INFINITY);
	out->hold.tried_ns = 0;
	output_tick(out, out->opened_ns + 1000000000);
	assert_false(out->hold.on);
	assert_int_equal(sensors[0].output->settled, 1);
	assert_string_equal(out->name, name);
	combo(0, 1);
	assert_string_not_equal(out->name, name);
	stop(true);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *line_file(int module)
{
	return path(module ? "module1.jsonl" : "module0.jsonl");
}

/* Both files have the combos' lines in this order ("0a" is the 10th of the first sensor), twice
 * each. */
static void assert_lines(const char *combos)
{
	char line[EVENT_JSON_MAX], want[64];

	for (int module = 0; module < 2; module++) {
		FILE *f = fopen(line_file(module), "r");

		for (const char *c = combos; f && *c; c += 2)
			for (int n = module; n < 4; n += 2) {
				uint64_t count = c[1] - 'a';

				assert_non_null(fgets(line, sizeof(line), f));
				snprintf(want, sizeof(want), "\"id\": \"%016llx-%llu-%d\"}\n",
					 RUN + (c[0] - '0'), (unsigned long long)count, n);
				assert_non_null(strstr(line, want));
			}
		assert_true(f ? !fgets(line, sizeof(line), f) : !*combos);
		if (f)
			fclose(f);
	}
}

static void lines_start(void)
{
	options.events = folder;
	assert_int_equal(start(), 0);
	run_begin(0);
	run_begin(1);
}

/* The file has its first lines, and `more` bytes of the next. */
static void lines_cut(int module, int lines, size_t more)
{
	FILE *f = fopen(line_file(module), "r");
	char line[EVENT_JSON_MAX];
	long at;

	assert_non_null(f);
	while (lines--)
		assert_non_null(fgets(line, sizeof(line), f));
	at = ftell(f);
	fclose(f);
	assert_int_equal(truncate(line_file(module), at + more), 0);
}

/* Lines wait with their combos, also if their files are reopened meanwhile. */
static void lines_wait_too(void **state)
{
	(void)state;
	lines_start();
	combo_of_words(0, 0);
	file_may_grow_to(out->size + 100);
	flush();
	assert_true(out->hold.on);
	assert_lines("");
	output_reopen(out);
	assert_lines("");
	file_may_grow_to(RLIM_INFINITY);
	try_again();
	assert_lines("0a");
	assert_int_equal(out->lines.lost, 0);
	combo_of_words(0, 1);
	flush();
	assert_lines("0a0b");
	stop(true);
}

/* Lines are written after their combo, and in the combos' order. */
static void lines_follow_the_capture(void **state)
{
	(void)state;
	lines_start();
	combo_of_words(0, 0);
	combo_of_words(1, 0);
	assert_lines("");
	flush();
	assert_lines("0a1a");
	combo_of_words(0, 1);
	stop(false);
	assert_lines("0a1a");
	lines_start();
	assert_lines("0a1a");
	combo_of_words(0, 1);
	flush();
	assert_int_equal(out->lines.written, 4);
	assert_int_equal(out->lines.recovered, 0);
	stop(true);
	assert_lines("0a1a0b");
}

/* A kill between the two writes, or within the second: the next collector adds the missing lines.
 * `state` is as old as it can be, two minutes. */
static void lines_after_a_kill(void **state)
{
	uint8_t saved[4096];
	size_t saved_len;

	(void)state;
	for (int kept = 0; kept < 8; kept++)
		for (size_t more = 0; more < 60; more += 29) {
			lines_start();
			for (uint64_t n = 0; n < 2; n++) {
				combo_of_words(0, n);
				combo_of_words(1, n);
				flush();
			}
			saved_len = file_read(path("saluki.state"), saved, sizeof(saved));
			stop(false);
			file_write(path("saluki.state"), saved, saved_len);
			lines_cut(0, kept, more);
			lines_cut(1, 7 - kept, 0);
			lines_start();
			assert_lines("0a1a0b1b");
			assert_int_equal(out->lines.recovered, 16 - 7);
			combo_of_words(1, 2);
			flush();
			stop(true);
			assert_lines("0a1a0b1b1c");
			options.events = NULL;
			assert_int_equal(end(NULL), 0);
			begin(NULL);
		}
}

/* One file that is appended to, and a series of files, also with the last line in an earlier
 * file. */
static void lines_over_several_files(void **state)
{
	uint8_t saved[4096];
	size_t saved_len;
	char series[PATH_MAX], single[PATH_MAX];

	(void)state;
	strcpy(series, path("lib.pcapng"));
	strcpy(single, path("one.pcapng"));
	options.write = series;
	options.rotate_s = 1;
	lines_start();
	saved_len = file_read(path("lib.pcapng.state"), saved, sizeof(saved));
	for (uint64_t n = 0; n < 3; n++) {
		combo_of_words(0, n);
		flush();
		output_tick(out, out->opened_ns + 1000000000);
	}
	stop(false);
	file_write(path("lib.pcapng.state"), saved, saved_len);
	lines_cut(0, 3, 9);
	assert_int_equal(unlink(line_file(1)), 0);
	lines_start();
	assert_lines("0a0b0c");
	stop(false);
	lines_start();
	assert_lines("0a0b0c");
	stop(true);
	options = (struct collector_options){ .write = single };
	unlink(line_file(0));
	unlink(line_file(1));
	lines_start();
	combo_of_words(0, 0);
	flush();
	stop(true); /* the state dates from here */
	lines_start();
	combo_of_words(0, 1);
	flush();
	stop(false);
	lines_cut(0, 3, 0);
	lines_cut(1, 2, 0);
	lines_start();
	assert_lines("0a0b");
	stop(true);
}

/* If files are moved away before the state is saved again, their lines do not come twice. */
static void lines_moved_away(void **state)
{
	(void)state;
	lines_start();
	combo_of_words(0, 0);
	flush();
	assert_int_equal(rename(line_file(0), path("old0")), 0);
	assert_int_equal(rename(line_file(1), path("old1")), 0);
	combo_of_words(0, 1);
	output_reopen(out); /* this combo is in the old ones, too */
	combo_of_words(0, 2);
	flush();
	assert_lines("0c");
	stop(false);
	lines_start();
	assert_lines("0c");
	stop(true);
	assert_int_equal(rename(path("old0"), line_file(0)), 0);
	assert_int_equal(rename(path("old1"), line_file(1)), 0);
	assert_lines("0a0b");
}

/* The sensor names `count` modules, PREFIXn and up, in one combo each. */
static void name_modules(int i, char prefix, int from, int count)
{
	static uint64_t combos[2];
	struct combo_name name = { .events = 1 };
	struct module_event said = { .len = 1 };

	for (int n = from; n < from + count; n++) {
		snprintf(said.name, sizeof(said.name), "%c%d", prefix, n);
		name.count = combos[i]++;
		assert_true(output_reserve(out, &name, 0, 1));
		output_combo(out, &sensors[i], name);
		output_module_event(out, &sensors[i], &said, 0, 1);
	}
}

static bool is_there(char prefix, int n)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "%c%d.jsonl", prefix, n);
	return stat(path(name), &st) == 0;
}

/* Sensors that invent module names take no files from another sensor: neither one, nor five, nor
 * earlier ones. */
static void names_are_each_sensors_own(void **state)
{
	(void)state;
	for (int n = 0; n < 300; n++) {
		char name[32];

		snprintf(name, sizeof(name), "old%d.jsonl", n);
		file_write(path(name), (const uint8_t *)"{}\n", 3);
	}
	lines_start();
	name_modules(1, 'b', 0, 2000);
	flush();
	assert_int_equal(out->lines.written, EVENT_LOG_SENSOR_MAX);
	assert_int_equal(out->lines.refused, 2000 - EVENT_LOG_SENSOR_MAX);
	assert_true(is_there('b', EVENT_LOG_SENSOR_MAX - 1) &&
		    !is_there('b', EVENT_LOG_SENSOR_MAX));
	name_modules(0, 'a', 0, EVENT_LOG_SENSOR_MAX);
	name_modules(0, 'b', 0, EVENT_LOG_SENSOR_MAX); /* the other named these first */
	flush();
	assert_int_equal(out->lines.written, 3 * EVENT_LOG_SENSOR_MAX);
	assert_int_equal(out->lines.refused, 2000 - EVENT_LOG_SENSOR_MAX);
	assert_int_equal(out->lines.lost, 0);
	assert_true(is_there('a', EVENT_LOG_SENSOR_MAX - 1));
	stop(false);
	/* The limits also hold for missing lines that are added. */
	assert_int_equal(truncate(path("a0.jsonl"), 0), 0);
	assert_int_equal(truncate(path("b1.jsonl"), 0), 0);
	unlink(path("saluki.state"));
	lines_start();
	assert_false(is_there('b', EVENT_LOG_SENSOR_MAX));
	name_modules(0, 'c', 0, EVENT_LOG_SENSOR_MAX + 1);
	flush();
	assert_true(is_there('c', EVENT_LOG_SENSOR_MAX - 1) &&
		    !is_there('c', EVENT_LOG_SENSOR_MAX));
	stop(true);
}

/* More files than may be open at once, in turn: each has its lines in order. */
static void more_files_than_are_open(void **state)
{
	struct event_log_names plenty[20] = { 0 };
	char line[32];
	FILE *f;

	(void)state;
	listed = 20;
	lines_start();
	listed = 2;
	for (int turn = 0; turn < 3; turn++) {
		uint32_t at = 0;

		for (int n = 0; n < 20 * EVENT_LOG_SENSOR_MAX; n++) {
			snprintf(line, sizeof(line), "m%d", n);
			at += 32;
			sprintf((char *)out->buffer + at, "{%d %d}", n, turn);
			event_log_add(&out->lines, line, &plenty[n / EVENT_LOG_SENSOR_MAX], NULL,
				      at, strlen((char *)out->buffer + at));
		}
		event_log_flush(&out->lines, out->buffer, true);
		assert_int_equal(out->lines.open_count, EVENT_LOG_OPEN_MAX);
	}
	assert_int_equal(out->lines.written, 3 * 20 * EVENT_LOG_SENSOR_MAX);
	stop(true);
	f = fopen(path("m7.jsonl"), "r");
	assert_non_null(f);
	for (int turn = 0; turn < 3; turn++) {
		char want[32];

		snprintf(want, sizeof(want), "{7 %d}\n", turn);
		assert_string_equal(fgets(line, sizeof(line), f), want);
	}
	fclose(f);
}

/* ---- a receiving process under an attacker's control ------------------------------------------
 */

/* Requests output files until refused. Returns how many were granted; the last is still open. */
static unsigned int take_files(int *last)
{
	struct files_answer a;
	unsigned int count = 0;
	int fd, err;

	for (;;) {
		err = files_ask(sock, FILES_OUTPUT, &a, &fd);
		if (err)
			break;
		if (count++)
			close(*last);
		*last = fd;
	}
	assert_int_equal(err, FILES_TOO_MANY);
	return count;
}

static void output_files_are_bounded_by_size(void **state)
{
	static const uint8_t bytes[1000000 / FILES_SIZE_PART + 1];
	struct files_answer a;
	int last, fd;

	(void)state;
	options.rotate_bytes = 1000000;
	assert_int_equal(start(), 0);
	/* One more each second, which the test may take. */
	assert_in_range(take_files(&last), FILES_SPARE_MAX, FILES_SPARE_MAX + 30);
	for (int n = 0; n < 2000; n++) {
		assert_int_equal(write(last, bytes, sizeof(bytes)), sizeof(bytes));
		assert_int_equal(files_ask(sock, FILES_OUTPUT, &a, &fd), 0);
		close(last);
		last = fd;
	}
	assert_int_equal(ftruncate(last, 1000000), 0); /* a file with a hole does not count */
	assert_in_range(take_files(&fd), 0, 30);
	close(last);
	stop(true);
}

static void output_files_are_bounded_by_time(void **state)
{
	int last;

	(void)state;
	options.rotate_s = 1;
	assert_int_equal(start(), 0);
	assert_in_range(take_files(&last), FILES_SPARE_MAX, FILES_SPARE_MAX + 30);
	close(last);
	stop(true);
	options.rotate_s = 0;
	assert_int_equal(start(), 0);
	assert_int_equal(take_files(&last), 0); /* there is one, and it is open */
	stop(true);
}

static void files_of_events_are_bounded(void **state)
{
	struct files_answer a;
	char name[32];
	int fd;

	(void)state;
	file_write(path("there.jsonl"), (const uint8_t *)"{}\n", 3);
	lines_start();
	for (int n = 0; n < 2 * FILES_SENSOR_MODULES; n++) {
		snprintf(name, sizeof(name), "m%d", n);
		assert_int_equal(files_ask_module(sock, name, &a, &fd), 0);
		close(fd);
	}
	assert_int_equal(files_ask_module(sock, "other", &a, &fd), FILES_TOO_MANY);
	assert_int_equal(files_ask_module(sock, "../there", &a, &fd), -EINVAL);
	assert_int_equal(files_ask_module(sock, "", &a, &fd), -EINVAL);
	assert_int_equal(files_ask_module(sock, "m5", &a, &fd), 0);
	close(fd);
	assert_int_equal(files_ask_module(sock, "there", &a, &fd), 0);
	close(fd);
	stop(true);
}

/* Only one collector uses a state. */
static void not_two_at_once(void **state)
{
	struct files f;

	(void)state;
	assert_int_equal(start(), 0);
	assert_int_equal(files_init(&f, &options), -EWOULDBLOCK);
	files_free(&f);
	out->state.floor_ns += 1000000000000; /* also after it was replaced */
	output_tick(out, 1);
	assert_int_equal(files_init(&f, &options), -EWOULDBLOCK);
	files_free(&f);
	stop(true);
	assert_int_equal(files_init(&f, &options), 0);
	files_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(settled_is_what_is_written, begin, end),
		cmocka_unit_test_setup_teardown(combos_of_dwells_are_settled_too, begin, end),
		cmocka_unit_test_setup_teardown(statistics_are_charged, begin, end),
		cmocka_unit_test_setup_teardown(known_after_a_kill, begin, end),
		cmocka_unit_test_setup_teardown(readings_are_known_after_a_kill, begin, end),
		cmocka_unit_test_setup_teardown(offsets_in_a_file, begin, end),
		cmocka_unit_test_setup_teardown(known_after_an_end, begin, end),
		cmocka_unit_test_setup_teardown(a_torn_file, begin, end),
		cmocka_unit_test_setup_teardown(a_single_file, begin, end),
		cmocka_unit_test_setup_teardown(a_rotated_series, begin, end),
		cmocka_unit_test_setup_teardown(no_files_of_idle_periods, begin, end),
		cmocka_unit_test_setup_teardown(a_full_disk_is_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(the_next_file_before_the_largest, begin, end),
		cmocka_unit_test_setup_teardown(a_full_file_is_followed_when_one_can_be, begin,
						end),
		cmocka_unit_test_setup_teardown(the_end_on_a_full_disk, begin, end),
		cmocka_unit_test_setup_teardown(no_rotation_on_a_full_disk, begin, end),
		cmocka_unit_test_setup_teardown(lines_wait_too, begin, end),
		cmocka_unit_test_setup_teardown(lines_follow_the_capture, begin, end),
		cmocka_unit_test_setup_teardown(lines_after_a_kill, begin, end),
		cmocka_unit_test_setup_teardown(lines_over_several_files, begin, end),
		cmocka_unit_test_setup_teardown(lines_moved_away, begin, end),
		cmocka_unit_test_setup_teardown(names_are_each_sensors_own, begin, end),
		cmocka_unit_test_setup_teardown(more_files_than_are_open, begin, end),
		cmocka_unit_test_setup_teardown(output_files_are_bounded_by_size, begin, end),
		cmocka_unit_test_setup_teardown(output_files_are_bounded_by_time, begin, end),
		cmocka_unit_test_setup_teardown(files_of_events_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(not_two_at_once, begin, end),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
