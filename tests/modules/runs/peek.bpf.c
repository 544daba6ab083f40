// SPDX-License-Identifier: GPL-2.0
/* Emits its whole view, folded to the size of an event: a 0 there means 0 everywhere. Then it
 * overwrites the view, to affect the next frame or another module. */
#include <saluki/module.h>

#define WORDS (MODULE_EVENT_MAX / 8)
#define FROM (__builtin_offsetof(struct frame_view, addr) / 8)
#define EVENT (__builtin_offsetof(struct frame_view, event_len) / 8)
#define BEHIND (__builtin_offsetof(struct frame_view, payload) / 8)
#define TO (sizeof(struct frame_view) / 8)

int module(struct frame_view *v)
{
	__u64 *words = (__u64 *)v;
	__u64 folded[WORDS] = {};

	folded[0] = v->has;
	/* From the first field that needs a grant. */
#pragma unroll
	for (unsigned int i = FROM; i < TO; i++)
		folded[1 + i % (WORDS - 1)] |=
			words[i]; /* the event must be empty, too */
	module_emit(v, folded, sizeof(folded));
#pragma unroll
	for (unsigned int i = 0; i < TO; i++)
		if (i < EVENT || i >= BEHIND)
			words[i] = 0x5a5a5a5a5a5a5a5a;
	return 0;
}
