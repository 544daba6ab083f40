// SPDX-License-Identifier: GPL-2.0
/* State: what a stem has before it is packed: whether it is done, and whether it can be. See
 * pack.h. */
#include <errno.h>
#include <unistd.h>

#include "archive/index_read.h"
#include "archive/series_name.h"
#include "common/log.h"
#include "keep/folder/same.h"
#include "keep/place/place.h"
#include "keep/place/table_name.h"
#include "pack.h"

/* ---- whether it can be packed ---------------------------------------------------------------- */

/* An index is replaced, another program's file of its name is not. */
static int check_index(int folder, const char *stem)
{
	char name[NAME_MAX + 1];
	int fd = form_open(folder, stem, FORM_INDEX, name);
	bool is_one;

	if (fd < 0)
		return 0;
	is_one = index_is_one(fd);
	close(fd);
	if (is_one)
		return 0;
	log_line("%s: is not an index; the capture file of this name is left as it is; rename one "
		 "of them",
		 name);
	return -ENOTUNIQ;
}

static int check_name(const char *stem, const struct pack_options *o)
{
	const char *wrong = o->columns < 0 ? NULL : table_wrong_stem(stem);

	if (!wrong)
		return 0;
	log_line("%s.pcapng: tables cannot have this name: %s; it is left as it is; rename it",
		 stem, wrong);
	return -ENOTUNIQ;
}

int pack_check(int folder, const char *stem, const struct pack_options *o)
{
	return check_name(stem, o) ?: check_index(folder, stem);
}

/* ---- whether it is packed -------------------------------------------------------------------- */

/* Reads the head of a stem's index, if all of the index is well-formed. Returns as index_read(), or
 * -errno. */
static int read_index(struct index_head *head, int folder, const char *stem)
{
	char name[NAME_MAX + 1];
	int fd = form_open(folder, stem, FORM_INDEX, name), err;
	struct index x;

	if (fd < 0)
		return fd;
	err = index_read_head(head, fd);
	if (!err) {
		err = index_read(&x, fd);
		if (!err)
			index_close(&x);
		else if (err == -EBADMSG)
			log_line("%s: is damaged; it is made again", name);
	}
	close(fd);
	return err;
}

/* Whether the index is of this compressed file, or of this capture file. */
static bool index_fits(int folder, const struct stem *s, const struct index_head *head)
{
	char name[NAME_MAX + 1];
	bool fits;
	int zst;

	if (!same_sizes(head, s))
		return false;
	if (s->has[FORM_PCAPNG])
		return true;
	zst = form_open(folder, s->name, FORM_ZST, name);
	if (zst < 0)
		return false;
	fits = index_is_of(head, zst);
	close(zst);
	return fits;
}

bool pack_is_done(int folder, const struct stem *s, const struct pack_options *o)
{
	struct index_head head;

	if (!s->has[FORM_INDEX] || (s->has[FORM_PCAPNG] && o->compress))
		return false;
	return !read_index(&head, folder, s->name) &&
	       (o->columns < 0 || head.tables == o->tables) && index_fits(folder, s, &head);
}

int pack_clean(int folder)
{
	static const char *const names[] = { PLACE_NEW(ARCHIVE_COMPRESSED),
					     PLACE_NEW(ARCHIVE_INDEX) };
	int removed = 0;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		removed += !unlinkat(folder, names[i], 0);
	return removed;
}
