// SPDX-License-Identifier: GPL-2.0
/* Watermark: see watermark.h. */
#include "watermark.h"

#include "common/changes.h"

/* Returns CLOCK_MONOTONIC up to which the source has returned all frames. */
static uint64_t complete_until(const struct source *s, uint64_t heard_ns)
{
	uint64_t difference = s->clock->realtime_minus_monotonic_ns;
	uint64_t until = heard_ns > SOURCE_LATE_NS ? heard_ns - SOURCE_LATE_NS : 0;
	uint64_t withheld = s->ops->withheld ? s->ops->withheld(s) : UINT64_MAX;

	if (withheld < until + difference)
		until = withheld > difference ? withheld - difference : 0;
	return until;
}

void watermark_set(struct watermark *w, const struct source *s, uint64_t frames, uint64_t heard_ns)
{
	uint64_t difference = s->clock->realtime_minus_monotonic_ns;
	uint64_t until = complete_until(s, heard_ns);
	struct watermark_mark mark = { .frames = frames };

	if (until <= w->until_ns && difference == w->realtime_minus_monotonic_ns)
		return;
	w->until_ns = until > w->until_ns ? until : w->until_ns;
	w->realtime_minus_monotonic_ns = difference;
	mark.before_ns = w->until_ns ? w->until_ns + difference : 0;
	changes_begin(&w->changes);
	changes_copy(&w->mark, &mark, sizeof(mark));
	changes_end(&w->changes);
}

void watermark_read(const struct watermark *w, struct watermark_mark *out)
{
	changes_read(&w->changes, out, &w->mark, sizeof(*out));
}
