// SPDX-License-Identifier: GPL-2.0
/* links: collector/output.o collector/output_file.o collector/recover.o collector/files.o
 * collector/files_replaced.o collector/series.o collector/state.o collector/names.o
 * collector/pcapng.o collector/pcapng_walk.o collector/interfaces.o collector/ledger.o
 * collector/sensors.o collector/session.o collector/reassemble.o collector/pool.o wire/info.o
 * wire/totals.o wire/table.o wire/shroud.o wire/derive.o wire/keys.o wire/tryst.o
 * collector/coverage.o collector/said_json.o collector/lines.o collector/lines_recover.o
 * collector/files_lines.o wire/channel.o wire/dwell.o wire/said.o */
/*
 * The output with the privileged process that opens its files: combos are settled when they are
 * written, and a collector that was ended in any way leaves its names to the next one.
 */
#include "unit.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/files.h"
#include "collector/sensors.h"

#define RUN 0x1122334455667788ULL

static char folder[64];
static struct collector_options options;
static struct output *out;
static struct sensor sensors[2];
static struct sensor *list[2] = { &sensors[0], &sensors[1] };
static struct sensors all = { .list = list, .count = 2 };
static struct orders orders = { .sock = -1 };
static pid_t privileged;
static int sock;

/* Starts both halves. Returns what output_init does. */
static int start(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	privileged = fork();
	if (!privileged) {
		struct files f;

		close(pair[0]);
		if (files_init(&f, &options) == 0)
			while (files_answer(&f, pair[1]) == 0)
				;
		_exit(0);
	}
	close(pair[1]);
	sock = pair[0];
	memset(sensors, 0, sizeof(sensors));
	for (int i = 0; i < 2; i++) {
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
		names_free(&out->names);
	}
	free(out);
	close(sock);
	assert_int_equal(waitpid(privileged, NULL, 0), privileged);
}

static void run_begin(int i)
{
	const struct sensor_run *known = names_find(&out->names, sensors[i].id, RUN + i);

	output_run_begin(out, &sensors[i], RUN + i, known ? known->next : 0,
			 known ? known->accounted : 0);
}

/* A combo of two frames in the buffer. */
static void combo(int i, uint64_t count)
{
	static const uint8_t bytes[60];
	struct combo_frame f = { .linktype = 1, .orig_len = 60, .kept_len = 60, .data = bytes };
	struct combo_name name = { .count = count, .first = 2 * count, .frames = 2 };

	assert_int_equal(ledger_combo(&sensors[i].ledger, name.first, 2), 0);
	output_combo(out, &sensors[i], name, 120, 1);
	for (f.time_ns = 1; f.time_ns <= 2; f.time_ns++)
		output_frame(out, &sensors[i], &f, 1);
}

/* One of dwells, of two interfaces by turns, and no frame. */
static void combo_of_dwells(int i, uint64_t count, uint64_t first, uint16_t dwells)
{
	struct combo_name name = { .count = count, .first = first, .events = dwells };
	struct dwell d = { .mhz = 2412, .width = 20, .center = 2412, .from_ns = 1, .to_ns = 9 };

	assert_int_equal(ledger_combo(&sensors[i].ledger, first, 0), 0);
	output_combo(out, &sensors[i], name, 0, 1);
	for (uint16_t n = 0; n < dwells; n++) {
		d.interface = n % 2;
		coverage_add(&sensors[i].coverage, &d);
		output_dwell(out, &sensors[i], &d, 1);
	}
}

/* One of what modules say: two words of each of two, by turns. */
static void combo_of_words(int i, uint64_t count)
{
	struct combo_name name = { .count = count, .events = 4 };
	struct said said = { .len = 1 };

	output_combo(out, &sensors[i], name, 0, 1);
	for (unsigned int n = 0; n < 4; n++) {
		snprintf(said.name, sizeof(said.name), "module%u", n % 2);
		said.bytes[0] = count;
		output_said(out, &sensors[i], &said, n, 1);
	}
}

static void flush(void)
{
	output_tick(out, out->opened_ns + OUTPUT_FLUSH_NS);
}

static uint64_t known(int i)
{
	const struct sensor_run *r = names_find(&out->names, sensors[i].id, RUN + i);

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
	assert_int_equal(sensors[0].output.settled, 0);
	output_passed(out, &sensors[1], 5, 10); /* behind what is in the buffer */
	assert_int_equal(sensors[1].output.settled, 0);
	flush();
	assert_int_equal(sensors[0].output.settled, 2);
	assert_int_equal(sensors[1].output.settled, 5);
	assert_true(sensors[0].due_ns && sensors[1].due_ns);
	assert_int_equal(sensors[0].ledger.now.written, 4);
	output_passed(out, &sensors[0], 9, 18); /* nothing is waited for */
	assert_int_equal(sensors[0].output.settled, 9);
	stop(true);
}

/* Also when it is the first of its sensor in the file, and the largest there can be. */
static void combos_of_dwells_are_settled_too(void **state)
{
	const struct sensor_run *r;

	(void)state;
	assert_int_equal(start(), 0);
	run_begin(0);
	combo_of_dwells(0, 0, 0, COMBO_EVENTS_MAX);
	assert_int_equal(out->interfaces, 2);
	assert_int_equal(sensors[0].output.settled, 0);
	flush();
	assert_int_equal(sensors[0].output.settled, 1);
	combo(0, 1); /* whose first frame is the run's third: two are missing */
	flush();
	combo_of_dwells(0, 2, 4, 1);
	flush();
	assert_int_equal(out->interfaces, 3); /* its frames are of another link type */
	coverage_free(&sensors[0].coverage);
	stop(false);
	assert_int_equal(unlink(path("saluki.state")), 0);
	assert_int_equal(start(), 0);
	r = names_find(&out->names, sensors[0].id, RUN);
	assert_non_null(r);
	assert_true(r->next == 3 && r->accounted == 4);
	stop(true);
}

/* What is in the buffer at SIGKILL was not settled; what was is known, by the files. */
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

/* One file that is appended to, with a state behind that is of half of it. */
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

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *line_file(int module)
{
	return path(module ? "module1.jsonl" : "module0.jsonl");
}

/* Both files have the lines of combos in this order ("0a" is the 10th of the first sensor), twice
 * each. */
static void assert_lines(const char *combos)
{
	char line[SAID_JSON_MAX], want[64];

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
	char line[SAID_JSON_MAX];
	long at;

	assert_non_null(f);
	while (lines--)
		assert_non_null(fgets(line, sizeof(line), f));
	at = ftell(f);
	fclose(f);
	assert_int_equal(truncate(line_file(module), at + more), 0);
}

/* They come when their combo is written; in the order in which those are. */
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

/* A kill between the two writes, or in the middle of the second: whatever is missing of it, the
 * next collector knows. `state` is as of before, as it is for two minutes. */
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

/* Into one file that is appended to, and over the files of a series: with the last line in an
 * earlier one, too. */
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
	stop(true); /* the state is as of here */
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

/* Files that are moved away before the state was saved again have lines that do not come twice. */
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

/* Neither by one sensor, nor by many, nor by a collector that asks for what is no name. */
static void no_more_files_than_there_may_be(void **state)
{
	struct said said = { .len = 1 };
	struct files_answer a;
	struct stat st;
	int fd;

	(void)state;
	file_write(path("there.jsonl"), (const uint8_t *)"{}\n", 3);
	file_write(path("none.json"), (const uint8_t *)"{}\n", 3);
	lines_start();
	for (int i = 0; i < 8; i++) {
		memset(&sensors[1].lines_named, 0, sizeof(sensors[1].lines_named));
		for (int n = 0; n < 200; n++) {
			snprintf(said.name, sizeof(said.name), "%d-%d", i, n);
			output_combo(out, &sensors[1],
				     (struct combo_name){ .count = i * 200 + n, .events = 1 }, 0,
				     1);
			output_said(out, &sensors[1], &said, 0, 1);
		}
	}
	flush();
	assert_int_equal(out->lines.count, LINES_FILES_MAX);
	assert_int_equal(out->lines.written, LINES_FILES_MAX - 1);
	assert_int_equal(out->lines.refused, 8 * 200 - (LINES_FILES_MAX - 1));
	assert_int_equal(stat(path("0-63.jsonl"), &st), 0);
	assert_int_equal(stat(path("0-64.jsonl"), &st), -1);
	assert_int_equal(stat(path("3-62.jsonl"), &st), 0);
	assert_int_equal(stat(path("3-63.jsonl"), &st), -1); /* "there" is one of them */
	assert_int_equal(files_ask_module(sock, "other", &a, &fd), FILES_TOO_MANY);
	assert_int_equal(files_ask_module(sock, "../there", &a, &fd), -EINVAL);
	assert_int_equal(files_ask_module(sock, "", &a, &fd), -EINVAL);
	assert_int_equal(files_ask_module(sock, "there", &a, &fd), 0);
	assert_int_equal(close(fd), 0);
	stop(true);
}

/* The state is one collector's. */
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
		cmocka_unit_test_setup_teardown(known_after_a_kill, begin, end),
		cmocka_unit_test_setup_teardown(known_after_an_end, begin, end),
		cmocka_unit_test_setup_teardown(a_torn_file, begin, end),
		cmocka_unit_test_setup_teardown(a_single_file, begin, end),
		cmocka_unit_test_setup_teardown(a_rotated_series, begin, end),
		cmocka_unit_test_setup_teardown(lines_follow_the_capture, begin, end),
		cmocka_unit_test_setup_teardown(lines_after_a_kill, begin, end),
		cmocka_unit_test_setup_teardown(lines_over_several_files, begin, end),
		cmocka_unit_test_setup_teardown(lines_moved_away, begin, end),
		cmocka_unit_test_setup_teardown(no_more_files_than_there_may_be, begin, end),
		cmocka_unit_test_setup_teardown(not_two_at_once, begin, end),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
