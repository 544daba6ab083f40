// SPDX-License-Identifier: GPL-2.0
/* Closed: see closed.h. */
#include "closed.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "keep/columns/columns.h"
#include "keep/place/day_name.h"

#define REST_NS (600 * 1000000000ULL)
#define DAY_NS (24 * 3600 * 1000000000LL)

void closed_begin(struct closed *c, int folder, uint64_t max_age_us)
{
	*c = (struct closed){ .max_age_us = max_age_us };
	c->compact.folder = folder;
	c->compact.tables = columns_names;
}

static int delete_old(struct closed *c, int64_t now_ns)
{
	char before[DAY_NAME];
	int files;

	day_of(now_ns - (int64_t)(c->max_age_us * 1000), before);
	files = compact_expire(&c->compact, before);
	if (files <= 0)
		return files;
	log_info("deleted %d file%s of columns, of days before %s", files, PLURAL(files),
		 before + strlen("day="));
	c->deleted += (uint64_t)files;
	return 0;
}

/* Capture files of yesterday may still be packed. */
static int join(struct closed *c, int64_t now_ns, uint64_t min_free)
{
	char yesterday[DAY_NAME];

	day_of(now_ns - DAY_NS, yesterday);
	return compact(&c->compact, yesterday, min_free);
}

int closed_look(struct closed *c, int64_t now_ns, uint64_t min_free)
{
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME), wanted = c->compact.wanted;
	int result = 0;

	if (c->compact.folder < 0 || boot_ns < c->rest_ns || !now_ns)
		return 0;
	if (c->max_age_us)
		result = delete_old(c, now_ns);
	if (!result)
		result = join(c, now_ns, min_free);
	if (result > 0 || result == -EINTR || (result == -ENOSPC && c->compact.wanted > wanted))
		return result;
	c->rest_ns = boot_ns + REST_NS;
	if (!result || result == -EAGAIN || result == -ENOSPC || result == -ENOMEM)
		return 0;
	log_line("columns cannot be joined: %s", strerror(-result));
	return result;
}

void closed_end(struct closed *c)
{
	compact_end(&c->compact);
}
