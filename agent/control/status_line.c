// SPDX-License-Identifier: GPL-2.0
/* Status line: see status_line.h. In: totals, the store, the session. Out: the line's text. */
#include "status_line.h"

#include <stdio.h>

#include "agent/export/session.h"

static void counts_of(struct status_counts *c, const struct totals *t)
{
	*c = (struct status_counts){
		.heard = t->seen,
		.kept = t->captured,
		.bytes = t->sent_bytes,
		.frames = t->exported,
		.lost = { { "ring", t->ring_full },
			  { "copy", t->copy_failed },
			  { "send", t->dropped_send },
			  { "store", t->dropped_store },
			  { "stop", t->dropped_shutdown } },
	};
}

/* The collector of `saluki capture` has no address. */
static bool is_local(const struct session *s)
{
	return s->peers[0].address.to.ss_family == AF_UNIX;
}

static const char *connection(const struct session *s)
{
	if (!s->ops->receives)
		return "  one-way";
	if (!s->connected)
		return "  no answer";
	return is_local(s) ? "" : "  connected";
}

void status_line_tell(struct status_line *l, const struct exporter *e, const struct totals *t,
		      uint64_t now_ns)
{
	const struct session *s = e->session;
	char text[TERMINAL_LINE_MAX], numbers[STATUS_TEXT_MAX], state[48];
	struct status_counts now;

	if (!l->line || (l->at_ns && now_ns - l->at_ns < TERMINAL_LINE_NS))
		return;
	counts_of(&now, t);
	if (l->at_ns) {
		snprintf(state, sizeof(state), "store %u%%%s", store_percent(&e->deliver.store),
			 connection(s));
		status_text(numbers, &l->before, &now, now_ns - l->at_ns,
			    &(struct status_words){ "sent", state });
		snprintf(text, sizeof(text), "%s%s%.*s", numbers, is_local(s) ? "" : "  ",
			 (int)(sizeof(text) - sizeof(numbers) - 3), is_local(s) ? "" : s->peer);
		terminal_line_say(l->line, text);
	}
	l->before = now;
	l->at_ns = now_ns;
}
