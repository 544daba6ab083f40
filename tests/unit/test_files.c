// SPDX-License-Identifier: GPL-2.0
/* links: collector/files/serve.o collector/files/ask.o collector/files/limit.o
 * collector/files/event_log.o collector/files/replaced.o collector/files/series.o
 * archive/series_name.o collector/files/ring.o wire/module_event.o */
/*
 * The privileged process that opens files, asked by a receiving process under an attacker's
 * control. Its requests take a bounded part of the file system and cannot reach earlier captures.
 * test_output.c tests a collector's normal requests.
 */
#include "files_unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "common/monotonic.h"

#define SENSORS 7
#define OLD_COUNT 3
#define OLD_TEXT "written before"

static char folder[64], stats[PATH_MAX];
static struct collector_options options;

static bool mounted;

static void start(void)
{
	privileged_start(&options, SENSORS);
}

static const char *path(const char *name)
{
	static char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s/%s", folder, name);
	return text;
}

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/saluki-files-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(stats, sizeof(stats), "%s", path("stats.json"));
	options = (struct collector_options){ .write = folder };
	return 0;
}

static int end(void **state)
{
	DIR *d;
	struct dirent *e;

	(void)state;
	if (mounted)
		umount2(folder, MNT_DETACH);
	mounted = false;
	d = opendir(folder);
	while ((e = readdir(d)))
		unlink(path(e->d_name));
	closedir(d);
	return rmdir(folder);
}

/* Requests output files, and frees each one's space again, until one is refused or there are
 * `most`. Returns how many were granted; `err` is the refusal. */
static unsigned int take_and_cut(unsigned int most, int *err)
{
	static const uint8_t bytes[16384];
	struct files_answer a;
	unsigned int count;
	int fd = -1, last = -1;

	for (count = 0; count < most; count++) {
		*err = files_ask(sock, FILES_OUTPUT, &a, &fd);
		if (*err)
			break;
		if (last >= 0)
			assert_int_equal(ftruncate(last, 0) | close(last), 0);
		last = fd;
		assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	}
	close(last);
	return count;
}

/* As many as a collector that writes 1 GB/s fills, for 10 s at once. */
static void files_that_are_cut_again(void **state)
{
	uint64_t began = monotonic_ns();
	unsigned int most = 1 + FILES_SPARE_MAX + FILES_SIZE_NS / 1000000 + 10, count;
	int err = 0;

	(void)state;
	options.rotate_bytes = 1000000;
	start();
	count = take_and_cut(30000, &err);
	most += (monotonic_ns() - began) / 1000000; /* the limit rises while they are taken */
	assert_int_equal(err, FILES_TOO_MANY);
	assert_in_range(count, FILES_SIZE_NS / 1000000, most);
	privileged_stop();
}

/* Mounts a file system for the test. */
static void mount_inodes(const char *how)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", folder, "tmpfs", 0, how))
		skip();
	mounted = true;
}

static void inodes_are_left_for_others(void **state)
{
	struct statfs fs;
	int err = 0;

	(void)state;
	mount_inodes("size=64m,nr_inodes=400");
	for (int by_size = 0; by_size < 2; by_size++) {
		options.rotate_bytes = by_size ? 1000000 : 0;
		options.rotate_s = !by_size;
		start();
		assert_in_range(take_and_cut(1000, &err), by_size ? 1 : 380, 400);
		assert_int_equal(err, -ENOSPC);
		assert_int_equal(statfs(folder, &fs), 0);
		assert_in_range(fs.f_ffree, 400 / FILES_INODES_PART - 2, 400 / FILES_INODES_PART);
		privileged_stop();
	}
}

static void files_of_events_leave_inodes(void **state)
{
	struct files_answer a;
	struct statfs fs;
	char name[32];
	int fd, err = 0;

	(void)state;
	mount_inodes("size=64m,nr_inodes=400");
	options.events = folder;
	start();
	for (unsigned int i = 0; i < SENSORS * FILES_SENSOR_MODULES && !err; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		err = files_ask_module(sock, name, &a, &fd);
		close(fd);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(statfs(folder, &fs), 0);
	assert_in_range(fs.f_ffree, 400 / FILES_INODES_PART - 1, 400 / FILES_INODES_PART);
	privileged_stop();
}

/* There is no room for a second file next to the first, which does not exist yet. */
static void the_first_statistics_of_a_small_disk(void **state)
{
	struct stat st;
	int err = 0;
	FILE *f;

	(void)state;
	mount_inodes("size=48k");
	options.stats_file = stats;
	start();
	for (int i = 0; i < 2; i++) {
		f = files_new(sock, FILES_STATS, &err);
		assert_non_null(f);
		assert_true(fputs(OLD_TEXT, f) >= 0);
		assert_int_equal(files_new_done(sock, FILES_STATS_DONE, f, 0), 0);
		assert_int_equal(stat(stats, &st), 0);
		assert_int_equal(st.st_size, strlen(OLD_TEXT));
	}
	privileged_stop();
}

/* A FIFO in the spare's place blocks nothing. */
static void a_spare_that_is_a_fifo(void **state)
{
	int err = 0;

	(void)state;
	mount_inodes("size=48k");
	options.stats_file = stats;
	assert_int_equal(mkfifo(path("stats.json.spare"), 0600), 0);
	start();
	assert_null(files_new(sock, FILES_STATS, &err));
	assert_int_equal(err, -ENXIO);
	privileged_stop();
}

/* Hands back a file with few blocks and a large size. */
static uint64_t hand_back(enum files_request what, enum files_request done)
{
	struct files_answer a;
	struct stat st;
	int fd;

	assert_int_equal(files_ask(sock, what, &a, &fd), 0);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(files_ask(sock, done, &a, NULL), 0);
	return st.st_blocks;
}

/* The privileged process reserves no blocks for a file said to be large. */
static void the_privileged_process_reserves_nothing(void **state)
{
	static const struct {
		enum files_request what, done;
		const char *name;
	} kinds[] = { { FILES_STATS, FILES_STATS_DONE, "stats.json.spare" },
		      { FILES_STATE, FILES_STATE_DONE, "saluki.state.spare" } };
	struct stat st;

	(void)state;
	options.stats_file = stats;
	start();
	for (int i = 0; i < 2; i++) {
		assert_in_range(hand_back(kinds[i].what, kinds[i].done), 0, 16);
		assert_in_range(hand_back(kinds[i].what, kinds[i].done), 0, 16);
		assert_true(stat(path(kinds[i].name), &st) || st.st_blocks == 0);
	}
	privileged_stop();
}

/* A working collector's files have room: the new file, and then the spare one. */
static void the_writer_reserves(void **state)
{
	struct stat st;
	int err = 0;
	FILE *f;

	(void)state;
	options.stats_file = stats;
	start();
	for (int i = 0; i < 3; i++) {
		f = files_new(sock, FILES_STATS, &err);
		assert_non_null(f);
		assert_int_equal(fstat(fileno(f), &st), 0);
		assert_true(st.st_blocks * 512 >= (i ? 2 * 1000000 : 65536));
		for (int n = 0; n < 1000000; n++)
			putc('x', f);
		assert_int_equal(files_new_done(sock, FILES_STATS_DONE, f, 0), 0);
		assert_int_equal(stat(path("stats.json.spare"), &st), 0);
		assert_true(st.st_blocks * 512 >= 2 * 1000000);
		assert_int_equal(stat(path("stats.json"), &st), 0);
		assert_int_equal(st.st_size, 1000000);
	}
	privileged_stop();
}

static void make_old(void)
{
	char name[64];
	FILE *f;

	for (int i = 1; i <= OLD_COUNT; i++) {
		snprintf(name, sizeof(name), "saluki_%05d_20260101000000.pcapng", i);
		f = fopen(path(name), "w");
		assert_non_null(f);
		assert_true(fputs(OLD_TEXT, f) >= 0 && fclose(f) == 0);
	}
}

/* They are opened at the start, when the last one may be truncated, and not later. */
static void earlier_files_are_out_of_reach(void **state)
{
	struct files_answer a;
	int fd;

	(void)state;
	make_old();
	start();
	assert_int_equal(files_ask(sock, FILES_OLD, &a, &fd), 0);
	close(fd);
	assert_int_equal(files_ask(sock, FILES_OUTPUT, &a, &fd), 0);
	close(fd);
	assert_int_equal(files_ask(sock, FILES_OLD, &a, &fd), -ENOENT);
	assert_true(fd < 0);
	privileged_stop();
}

/* ---- a ring (-W) ----------------------------------------------------------------------------- */

/* Makes a file that begins as those of a collector do. */
static void make_with(const char *name, const char *comment)
{
	FILE *f = fopen(path(name), "w");

	assert_non_null(f);
	assert_true(fprintf(f, "\n\r\r\n....%s....", comment) > 0 && fclose(f) == 0);
}

static bool there(const char *name)
{
	return access(path(name), F_OK) == 0;
}

/* Opens the next output file, and writes its beginning. Returns its name without the folder. */
static const char *next_output(void)
{
	static char name[PATH_MAX];
	struct files_answer a;
	int fd, len;

	assert_int_equal(files_ask(sock, FILES_OUTPUT, &a, &fd), 0);
	snprintf(name, sizeof(name), "%s", a.name + strlen(folder) + 1);
	len = dprintf(fd, "\n\r\r\n....%s....", a.ring);
	assert_true(len > 0 && close(fd) == 0);
	return name;
}

static unsigned int count_files(const char *ending)
{
	DIR *d = opendir(folder);
	unsigned int count = 0;
	struct dirent *e;

	while ((e = readdir(d)))
		count += strlen(e->d_name) > strlen(ending) &&
			 !strcmp(e->d_name + strlen(e->d_name) - strlen(ending), ending);
	closedir(d);
	return count;
}

#define RING "in the ring of -w saluki.pcapng: the oldest files are deleted (-W)"

/* Also across restarts, whether the count falls or rises. */
static void a_ring_keeps_the_newest(void **state)
{
	char names[12][64];

	(void)state;
	options.rotate_bytes = 1000000;
	for (unsigned int run = 0; run < 4; run++) {
		options.rotate_count = run == 2 ? 2 : 4;
		start();
		for (unsigned int i = 0; i < 3; i++) {
			unsigned int n = run * 3 + i, whole = 0;

			strcpy(names[n], next_output());
			for (unsigned int k = 0; k <= n; k++)
				whole += there(names[k]);
			assert_int_equal(whole, count_files(".pcapng"));
			assert_true(there(names[n]) && whole <= options.rotate_count);
		}
		privileged_stop();
	}
	assert_int_equal(count_files(".pcapng"), 4);
	for (unsigned int k = 8; k < 12; k++)
		assert_true(there(names[k]));
}

/* Files of other programs, of other series, without -W, links, and files that are in use stay. */
static void a_ring_deletes_nothing_else(void **state)
{
	static const char *const others[] = {
		"saluki_00001_20260101000000.pcapng", "saluki_00002_20260101000000.pcapng",
		"saluki_00003_20260101000000.pcapng", "saluki_00004_20260101000000.pcapng",
		"saluki_00005_20260101000000.pcapng", "saluki_00006_20260101000000.pcap",
		"saluki_00007_20260101000000.pcapng",
	};
	int used;

	(void)state;
	make_with(others[0], "no comment");
	make_with(others[1], "in the ring of -w lib.pcapng: the oldest files are deleted (-W)");
	make_with("target", RING);
	assert_int_equal(symlink("target", path(others[2])), 0);
	make_with(others[3], RING);
	used = open(path(others[3]), O_RDONLY);
	assert_true(used >= 0 && flock(used, LOCK_EX | LOCK_NB) == 0);
	assert_int_equal(mkfifo(path(others[4]), 0600), 0);
	make_with(others[5], RING); /* no name of the series */
	make_with(others[6], RING); /* this one belongs to it */
	options.rotate_bytes = 1000000;
	options.rotate_count = 2;
	start();
	for (unsigned int i = 0; i < 6; i++)
		next_output();
	privileged_stop();
	for (unsigned int i = 0; i < 6; i++)
		assert_true(there(others[i]));
	assert_false(there(others[6]));
	assert_true(there("target"));
	assert_int_equal(count_files(".pcapng"), 5 + 2);
	close(used);
}

/* Collectors that end before they write a frame push out nothing. */
static void a_ring_survives_many_starts(void **state)
{
	static const uint32_t nothing[] = { 0x0a0d0d0a, 512 };
	char block[512] = { 0 }, first[64];
	struct files_answer a;
	int fd;

	(void)state;
	options.rotate_bytes = 1000000;
	options.rotate_count = 3;
	start();
	strcpy(first, next_output());
	privileged_stop();
	memcpy(block, nothing, sizeof(nothing));
	strcpy(block + sizeof(nothing), RING);
	for (unsigned int i = 0; i < 10; i++) {
		start();
		assert_int_equal(files_ask(sock, FILES_OUTPUT, &a, &fd), 0);
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
		close(fd);
		privileged_stop();
	}
	assert_true(there(first));
	assert_int_equal(count_files(".pcapng"), 2);
}

/* A file of the ring is replaced by another one while the collector runs. */
static void a_ring_looks_before_it_deletes(void **state)
{
	char first[64], second[64];

	(void)state;
	options.rotate_bytes = 1000000;
	options.rotate_count = 2;
	start();
	strcpy(first, next_output());
	strcpy(second, next_output());
	make_with(first, "mine now");
	assert_int_equal(unlink(path(second)), 0);
	for (unsigned int i = 0; i < 5; i++)
		next_output();
	privileged_stop();
	assert_true(there(first));
	assert_int_equal(count_files(".pcapng"), 1 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_that_are_cut_again, begin, end),
		cmocka_unit_test_setup_teardown(the_privileged_process_reserves_nothing, begin,
						end),
		cmocka_unit_test_setup_teardown(the_writer_reserves, begin, end),
		cmocka_unit_test_setup_teardown(earlier_files_are_out_of_reach, begin, end),
		cmocka_unit_test_setup_teardown(inodes_are_left_for_others, begin, end),
		cmocka_unit_test_setup_teardown(files_of_events_leave_inodes, begin, end),
		cmocka_unit_test_setup_teardown(the_first_statistics_of_a_small_disk, begin, end),
		cmocka_unit_test_setup_teardown(a_spare_that_is_a_fifo, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_keeps_the_newest, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_deletes_nothing_else, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_survives_many_starts, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_looks_before_it_deletes, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
