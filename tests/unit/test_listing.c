// SPDX-License-Identifier: GPL-2.0
/* links: keep/folder/listing.o keep/folder/form.o keep/folder/origin.o archive/series_name.o
 * common/directory.o common/space.o pcapng/block.o pcapng/build.o */
/* A folder's listing while another program packs files. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "keep/folder/listing.h"

static char folder[64];
/* If set, the next walk through a folder comes too late for this file and too early for its packed
 * forms. */
static const char *exchanged;

static int begin(void **state)
{
	(void)state;
	exchanged = NULL;
	strcpy(folder, "/tmp/saluki-listing-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static void path_of(char path[512], const char *name, const char *ending)
{
	snprintf(path, 512, "%s/%s%s", folder, name, ending);
}

static int end(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	static const char *const endings[] = { ".pcapng", ".pcapng.zst", ".idx" };
	char path[512];

	(void)state;
	for (int n = 0; n < 3; n++)
		for (int e = 0; e < 3; e++) {
			path_of(path, names[n], endings[e]);
			unlink(path);
		}
	return rmdir(folder);
}

static void make(const char *name, const char *ending)
{
	char path[512];
	FILE *f;

	path_of(path, name, ending);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

/* Stands in for that of the C library. */
struct dirent *readdir(DIR *d)
{
	struct dirent *e = (struct dirent *)readdir64(d);
	char path[512];

	if (!e)
		exchanged = NULL;
	if (!e || !exchanged || strncmp(e->d_name, exchanged, strlen(exchanged)) != 0)
		return e;
	if (!strcmp(strchr(e->d_name, '.'), ".pcapng")) {
		make(exchanged, ".idx");
		make(exchanged, ".pcapng.zst");
		path_of(path, exchanged, ".pcapng");
		assert_int_equal(unlink(path), 0);
	}
	return readdir(d);
}

static void a_file_that_is_packed_meanwhile(void **state)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	struct listing l;

	(void)state;
	make("a", ".pcapng");
	make("b", ".pcapng");
	make("c", ".pcapng.zst");
	exchanged = "b";
	assert_int_equal(listing_read(&l, fd, false), 0);
	assert_int_equal(l.count, 3);
	assert_string_equal(l.list[1].name, "b");
	assert_true(l.list[1].has[FORM_ZST] && l.list[1].has[FORM_INDEX]);
	listing_free(&l);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_that_is_packed_meanwhile, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
