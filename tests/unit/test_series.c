// SPDX-License-Identifier: GPL-2.0
/* links: collector/files/series.o archive/series_name.o */
/* Names of a series: new ones, and those that belong to it. */
#include "unit.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "collector/files/series.h"

static char folder[64], write_path[PATH_MAX];

static int begin(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	strcpy(folder, "/tmp/saluki-series-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(folder);

	(void)state;
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	closedir(d);
	return rmdir(folder);
}

static struct series series(const char *name, bool by_time)
{
	struct collector_options o = { .write = write_path, .rotate_s = by_time };

	snprintf(write_path, sizeof(write_path), "%s/%s", folder, name);
	return series_of(&o, !*name);
}

static void make(const char *name)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

/* If set, the next walk through a folder comes too late for this file and too early for its index.
 */
static const char *exchanged;

/* Stands in for that of the C library. */
struct dirent *readdir(DIR *d)
{
	struct dirent *e = (struct dirent *)readdir64(d);
	char index[PATH_MAX], path[PATH_MAX];

	if (!e)
		exchanged = NULL;
	if (!e || !exchanged)
		return e;
	snprintf(index, sizeof(index), "%.*s.idx", (int)strcspn(exchanged, "."), exchanged);
	if (!strcmp(e->d_name, exchanged)) {
		make(index);
		snprintf(path, sizeof(path), "%s/%s", folder, exchanged);
		assert_int_equal(unlink(path), 0);
	} else if (strcmp(e->d_name, index) != 0) {
		return e;
	}
	return readdir(d);
}

/* Checks the list's base names, and the next number. */
static void listed(const struct series *s, const char *const *names, unsigned int next)
{
	unsigned int following;
	char **list;
	int count = series_list(s, &list, &following), i = 0;

	for (; names[i]; i++) {
		assert_true(i < count);
		assert_string_equal(strrchr(list[i], '/') + 1, names[i]);
		free(list[i]);
	}
	assert_int_equal(i, count);
	assert_int_equal(following, next);
	free(list);
}

static void only_its_own_names(void **state)
{
	static const char *const others[] = {
		"lib.pcapng",
		"lib_00001.pcapng",
		"lib_00001_2026.pcapng",
		"lib_x_20260101000000.pcapng",
		"lib_00001_20260101000000.pcap",
		"lib_00001_20260101000000.pcapng.zst",
		"lib_00001_202601010000001.pcapng",
		"library_00001_20260101000000.pcapng",
		"lib_0_20260101000000.pcapng",
		"lib_00001_20260101000000",
	};
	static const char *const own[] = { "lib_00009_20260101000000.pcapng",
					   "lib_00010_20250101000000.pcapng",
					   "lib_100000_20260101000000.pcapng", NULL };
	struct series s = series("lib.pcapng", false);

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make(others[i]);
	for (int i = 2; i >= 0; i--)
		make(own[i]);
	listed(&s, own, 100001);
}

/* saluki-keep compresses files: numbers go on, and indexes stand for what is gone. */
static void packed_files(void **state)
{
	static const char *const names[] = {
		"lib_00001_20260101000000.pcapng.zst", "lib_00001_20260101000000.idx",
		"lib_00002_20260101000000.idx",	       "lib_00003_20260101000000.pcapng",
		"lib_00003_20260101000000.idx",	       "lib_00004_20260101000000.pcapng.zst",
		"lib_00009_20260101000000.pcap.zst",   "lib_00010_20260101000000.idx.new",
		"other_00011_20260101000000.idx",
	};
	static const char *const listed_names[] = { "lib_00001_20260101000000.idx",
						    "lib_00002_20260101000000.idx",
						    "lib_00003_20260101000000.pcapng", NULL };
	struct series s = series("lib.pcapng", false);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(names[i]);
	listed(&s, listed_names, 5);
}

/* saluki-keep compresses a file while the folder is read. */
static void a_file_is_exchanged(void **state)
{
	static const char *const listed_names[] = { "lib_00001_20260101000000.pcapng",
						    "lib_00002_20260101000000.idx",
						    "lib_00003_20260101000000.pcapng", NULL };
	struct series s = series("lib.pcapng", false);

	(void)state;
	make("lib_00001_20260101000000.pcapng");
	make("lib_00002_20260101000000.pcapng");
	make("lib_00003_20260101000000.pcapng");
	exchanged = "lib_00002_20260101000000.pcapng";
	listed(&s, listed_names, 4);
}

static void names_with_times(void **state)
{
	static const char *const others[] = {
		"cap-2361_00001.pcapng",
		"cap-2400_00001.pcapng",
		"cap-12_00001.pcapng",
		"cap-1200_1.pcapng",
		"cap-1200.pcapng",
		"cap-1200_00001.pcap",
		"cap-%H%M_00001.pcapng",
		"cap-1200_00001_20260101000000.pcapng",
		"cap-1200x_00001.pcapng",
		"cap-1200_00000.pcapng",
		"cap-other-1200_00001.pcapng",
	};
	/* The order is that of the numbers: midnight passed. */
	static const char *const own[] = { "cap-2359_00007.pcapng", "cap-0001_00008.pcapng",
					   "cap-0000_100000.pcapng", NULL };
	struct series s = series("cap-%H%M.pcapng", true);

	(void)state;
	assert_true(s.has_time);
	assert_null(series_wrong(&s));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make(others[i]);
	for (int i = 2; i >= 0; i--)
		make(own[i]);
	listed(&s, own, 100001);
}

/* Every name that is made is found again, and two of one second differ. */
static void made_and_found(void **state)
{
	static const char *const names[] = { "",
					     "lib.pcapng",
					     "lib",
					     "a%Y%m%d-%H%M%S.cap",
					     "%Y.%m.%d",
					     "%s.pcapng",
					     "%F_%T.x",
					     "%j-%y%b%d",
					     "100%%.pcapng",
					     "%H_%M",
					     "x_%Y_00001.p" };
	char one[PATH_MAX], two[PATH_MAX];
	const char *list[] = { one, two, NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct series s = series(names[i], strchr(names[i], '%'));

		assert_null(series_wrong(&s));
		assert_int_equal(series_name(&s, 41, one, sizeof(one)), 0);
		assert_int_equal(series_name(&s, 42, two, sizeof(two)), 0);
		assert_string_not_equal(one, two);
		memmove(one, strrchr(one, '/') + 1, strlen(strrchr(one, '/')));
		memmove(two, strrchr(two, '/') + 1, strlen(strrchr(two, '/')));
		make(one);
		make(two);
		assert_int_equal(series_number(one), 41);
		listed(&s, list, 43);
		assert_int_equal(end(NULL) | begin(NULL), 0);
	}
}

static void conversions_that_cannot_be(void **state)
{
	static const char *const names[] = { "%D.pcapng", "%Z.pcapng", "%P.pcapng", "%q" };
	struct series s = series("%D%Z", false);

	(void)state;
	assert_null(series_wrong(&s)); /* not by time: it is text */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		s = series(names[i], true);
		assert_non_null(series_wrong(&s));
	}
}

static void numbers_of_names(void **state)
{
	(void)state;
	assert_int_equal(series_number("/a_00003_20260101000000.d/lib_00012_20260101000000.pcapng"),
			 12);
	assert_int_equal(series_number("lib-20260101_00012.pcapng"), 12);
	assert_int_equal(series_number("lib_00012"), 12);
	assert_int_equal(series_number("lib.pcapng"), 0);
	assert_int_equal(series_number("00012.pcapng"), 0);
	assert_int_equal(series_number("lib_20260101000000.pcapng"), 0);
	assert_int_equal(series_number("lib_4294967295.pcapng"), 0);
	assert_int_equal(series_number("lib_99999999999999999999.pcapng"), 0);
	assert_int_equal(series_number(""), 0);
	assert_true(series_compare("d/lib-2359_00009.p", "lib-0001_00010.p") < 0);
	assert_true(series_compare("d/lib.p", "lib.p") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_its_own_names, begin, end),
		cmocka_unit_test_setup_teardown(packed_files, begin, end),
		cmocka_unit_test_setup_teardown(a_file_is_exchanged, begin, end),
		cmocka_unit_test_setup_teardown(names_with_times, begin, end),
		cmocka_unit_test_setup_teardown(made_and_found, begin, end),
		cmocka_unit_test_setup_teardown(conversions_that_cannot_be, begin, end),
		cmocka_unit_test(numbers_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
