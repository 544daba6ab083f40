// SPDX-License-Identifier: GPL-2.0
/* Connection report: see connection_report.h. */
#include "connection_report.h"

#include <stdio.h>
#include <string.h>

#include "common/duration.h"
#include "common/log.h"

static bool differs(const struct connection_state *a, const struct connection_state *b)
{
	return a->up != b->up || (a->up && a->peer != b->peer);
}

/* Returns whether another line may be logged, and counts it. */
static bool may_tell(struct connection_report *r, uint64_t now_ns, bool limited)
{
	if (!r->window_ns || now_ns - r->window_ns >= CONNECTION_REPORT_NS) {
		r->window_ns = now_ns;
		r->lines = 0;
	}
	return r->lines++ < CONNECTION_REPORT_LINES || !limited;
}

bool connection_report_look(struct connection_report *r, const struct connection_state *now,
			    uint64_t now_ns, bool limited)
{
	if (differs(&r->last, now)) {
		r->changes++;
		if (now->up && !r->last.up)
			r->back_ns = now_ns;
		if (!now->up) {
			r->lost_ns = now_ns;
			r->lost_peer = now->peer;
		}
		r->last = *now;
	}
	if (!differs(&r->told, now) || !may_tell(r, now_ns, limited))
		return false;
	r->told = *now;
	return true;
}

void connection_report_count(struct connection_report *r, const struct session *s,
			     const struct totals *t)
{
	uint64_t settled = __atomic_load_n(s->exported, __ATOMIC_RELAXED);

	if (!s->connected)
		r->kept = t->captured > settled ? t->captured - settled : 0;
}

static void tell_up(struct connection_report *r, const struct session *s, const char *often)
{
	const char *name = s->peers[r->told.peer].address.name;
	unsigned long long frames = r->kept;
	char away[DURATION_TEXT_LEN];

	duration_text(away, (r->back_ns - r->lost_ns + SESSION_SILENCE_NS) / 1000);
	if (r->lost_ns && r->lost_peer != r->told.peer)
		log_line("collector %s: connected after %s without a collector; %llu frame%s "
			 "waited%s",
			 name, away, frames, PLURAL(frames), often);
	else if (r->lost_ns)
		log_line("collector %s: connected again after %s; %llu frame%s waited%s", name,
			 away, frames, PLURAL(frames), often);
	else if (s->was_silent)
		log_line("collector %s: connected; it did not answer before%s", name, often);
	else
		log_info("collector %s: connected%s", name, often);
	r->lost_ns = 0; /* another collector may take its place without a loss */
}

/* Which key answered, if the sensor knows two. */
static void add_key(char *text, size_t size, const struct session_peer *p)
{
	size_t len = strlen(text);
	char key[KEY_SHORT_LEN];

	if (p->key_count < 2)
		return;
	key_to_short(key, p->keys[p->key].public);
	snprintf(text + len, size - len, " (its key %s)", key);
}

void connection_report_tell(struct connection_report *r, const struct session *s, uint64_t now_ns)
{
	const struct connection_state now = { s->connected, s->heard_peer };
	char often[96] = "";

	if (!connection_report_look(r, &now, now_ns, log_settings.level < LOG_LEVEL_VERBOSE))
		return;
	if (r->changes > 1)
		snprintf(often, sizeof(often), " (%u changes since the last line)", r->changes);
	if (now.up)
		add_key(often, sizeof(often), &s->peers[now.peer]);
	r->changes = 0;
	if (now.up)
		tell_up(r, s, often);
	else
		log_line("collector %s: connection lost: no answer for %llu s; frames are kept%s",
			 s->peers[now.peer].address.name, SESSION_SILENCE_NS / 1000000000, often);
}
