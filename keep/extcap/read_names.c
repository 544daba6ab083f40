// SPDX-License-Identifier: GPL-2.0
/* Read names: see read_names.h. */
#include "read_names.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "keep/folder/listing.h"
#include "keep/process/sandbox.h"

#define READ_NS 1000000000ULL
#define READ_BYTES (16 * 1024 * 1024) /* a larger index takes too long */

/* An index that cannot be read has no names. */
static int read_index(struct names *n, int folder, const char *stem)
{
	char name[NAME_MAX + 1];
	struct index x;
	int fd, err;

	fd = form_open(folder, stem, FORM_INDEX, name);
	if (fd < 0)
		return 0;
	err = index_read(&x, fd);
	close(fd);
	if (err)
		return 0;
	err = names_index(n, &x);
	index_close(&x);
	return err;
}

static bool read_all(struct names *n, int folder, const struct listing *l)
{
	uint64_t until = monotonic_ns() + READ_NS;

	for (unsigned int i = l->count; i-- > 0;) {
		const struct stem *s = &l->list[i];

		if (!s->has[FORM_INDEX])
			continue;
		if (s->bytes[FORM_INDEX] > READ_BYTES || monotonic_ns() > until ||
		    read_index(n, folder, s->name))
			return false;
	}
	return n->count > 0;
}

bool read_names(struct names *n, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing l = { 0 };
	bool known = fd >= 0 && !listing_read(&l, fd, false) && !sandbox_find(folder, NULL) &&
		     read_all(n, fd, &l);

	listing_free(&l);
	if (fd >= 0)
		close(fd);
	return known;
}
