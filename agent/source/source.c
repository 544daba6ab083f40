// SPDX-License-Identifier: GPL-2.0
/* What sources have in common that see whole frames: see source.h. */
#include "source.h"

#include "bpf/trim.h"

void source_count(__u64 *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

void source_counters_read(struct saluki_counters *out, const struct saluki_counters *c)
{
	const __u64 *from = (const __u64 *)c;
	__u64 *to = (__u64 *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(__u64); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void source_cut(struct source_frame *out, uint32_t cap_len, bool keep_headers, uint32_t snaplen,
		struct saluki_counters *c)
{
	struct frame f = { out->frame.data, out->frame.data + cap_len, out->frame.orig_len, 0 };

	out->frame.kept_len = trim_frame(&f, cap_len, out->frame.linktype, keep_headers, snaplen);
	source_count(&c->captured, 1);
	source_count(&c->kept_bytes, out->frame.kept_len);
	source_count(&c->malformed, f.malformed);
}
