// SPDX-License-Identifier: GPL-2.0
/* Progress: see progress.h. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/monotonic.h"

#define EVERY_NS 500000000ULL

void progress_begin(struct progress *p, const struct merge *m)
{
	memset(p, 0, sizeof(*p));
	p->merge = m;
	p->begun_ns = monotonic_ns();
	p->next_ns = p->begun_ns + EVERY_NS;
	terminal_line_open(&p->line);
}

void progress_show(void *progress, double share)
{
	struct progress *p = progress;
	char text[TERMINAL_LINE_MAX];
	uint64_t now;
	size_t n = 0;

	if (!p->line.shared)
		return;
	now = monotonic_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	if (share >= 0)
		n = snprintf(text, sizeof(text), "%3.0f %% done  ", 100 * share);
	n += snprintf(text + n, sizeof(text) - n,
		      "%" PRIu64 " receptions  %" PRIu64 " transmissions",
		      p->merge->match.receptions, p->merge->given);
	if (share > 0)
		snprintf(text + n, sizeof(text) - n, "  %.0f s left",
			 (now - p->begun_ns) / 1e9 * (1 - share) / share);
	terminal_line_say(&p->line, text);
	terminal_line_tick(&p->line, now);
}

void progress_end(struct progress *p)
{
	terminal_line_close(&p->line);
}
