// SPDX-License-Identifier: GPL-2.0
/* Same: see same.h. */
#include "same.h"

#include <errno.h>
#include <unistd.h>

#include "archive/index_read.h"
#include "form.h"

int same_capture(int folder, const char *stem, uint64_t bytes)
{
	char name[NAME_MAX + 1];
	int zst = form_open(folder, stem, FORM_ZST, name), index;
	struct index_head head;
	bool same = false;

	if (zst < 0)
		return 0;
	index = form_open(folder, stem, FORM_INDEX, name);
	if (index >= 0) {
		same = !index_read_head(&head, index) && index_is_of(&head, zst) &&
		       head.pcapng_bytes == bytes;
		close(index);
	}
	close(zst);
	return same ? 0 : -EEXIST;
}

bool same_sizes(const struct index_head *head, const struct stem *s)
{
	if (s->has[FORM_PCAPNG])
		return !head->file_bytes && head->pcapng_bytes == s->bytes[FORM_PCAPNG];
	return head->file_bytes == s->bytes[FORM_ZST];
}
