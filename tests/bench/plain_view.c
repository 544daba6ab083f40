// SPDX-License-Identifier: GPL-2.0
/* Plain: see plain_view.h. It does with a record what the kernel does with a frame at the hook
 * (bpf/modules.bpf.c). */
#include "plain_view.h"

#include <string.h>

#include <saluki/linktype.h>

/* In place of bpf/hook.h. */
#define SALUKI_HOOK_H
struct hook {
	const __u8 *data;
	__u32 len, kept;
};

static inline long hook_load(const struct hook *h, __u32 off, void *to, __u32 n, __u32 max)
{
	if (n > max || off > h->kept || n > h->kept - off)
		return -1;
	memcpy(to, h->data + off, n);
	return 0;
}

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* clang's, for BPF */
#include "bpf/label.h"

void plain_view(struct frame_view *v, const struct saluki_record *r, __u32 wanted, __u32 payload)
{
	static const unsigned long long trajectory[2] = { 1, 2 };
	struct hook h = { (const __u8 *)(r + 1), r->orig_len, r->kept_len };
	struct frame f = { .data = h.data, .end = h.data + h.kept, .orig_len = h.len };
	struct view_walk w = { .f = &f, .v = v, .hidden = view_hidden(wanted) };

	view_clear(v, LINKTYPE_ETHERNET);
	v->time_ns = r->time_ns;
	v->frame_len = r->orig_len;
	v->linktype = LINKTYPE_ETHERNET;
	v->direction = r->direction;
	view_fill(&w, LINKTYPE_ETHERNET);
	if (w.payload && wanted & VIEW_PAYLOAD)
		label_payload(&h, v, w.payload, payload);
	if (w.network && wanted & VIEW_LABEL)
		label_fill(&h, v, &w, (const void *)trajectory);
}
