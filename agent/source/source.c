// SPDX-License-Identifier: GPL-2.0
/* Code shared by sources that see whole frames: see source.h. */
#include "source.h"

#include "bpf/trim.h"
#include "common/changes.h"

static void add(__u64 *counter, uint64_t n)
{
	n += *counter;
	changes_copy(counter, &n, sizeof(n));
}

void source_offered(struct source_counts *c, uint32_t orig_len, bool refused)
{
	changes_begin(&c->changes);
	add(&c->counters.seen, 1);
	add(&c->counters.seen_bytes, orig_len);
	add(&c->counters.filtered, refused);
	changes_end(&c->changes);
}

void source_counts_read(struct saluki_counters *out, const struct source_counts *c)
{
	changes_read(&c->changes, out, &c->counters, sizeof(*out));
}

bool source_cut(struct source_frame *out, uint32_t cap_len, const struct source_keep *keep,
		struct source_counts *c)
{
	struct frame f = { .data = out->frame.data,
			   .end = out->frame.data + cap_len,
			   .orig_len = out->frame.orig_len };
	bool bad, taken;

	out->frame.kept_len =
		trim_frame(&f, cap_len, out->frame.linktype, keep->headers, keep->snaplen);
	bad = f.flags & RADIOTAP_BAD_FCS;
	taken = !bad || !keep->drop_bad_fcs;
	changes_begin(&c->changes);
	add(&c->counters.bad_fcs, bad);
	add(&c->counters.filtered, !taken);
	add(&c->counters.captured, taken);
	add(&c->counters.kept_bytes, taken ? out->frame.kept_len : 0);
	add(&c->counters.malformed, taken && f.malformed);
	changes_end(&c->changes);
	return taken;
}
