// SPDX-License-Identifier: GPL-2.0
/* Says all of its view, folded to the size of an event: what is 0 there was 0 everywhere. Then it
 * writes over that, for what comes next: the next frame, another module. */
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
	/* From behind what needs no grant. */
#pragma unroll
	for (unsigned int i = FROM; i < TO; i++)
		folded[1 + i % (WORDS - 1)] |=
			words[i]; /* of an event nothing must be there, too */
	module_emit(v, folded, sizeof(folded));
#pragma unroll
	for (unsigned int i = 0; i < TO; i++)
		if (i < EVENT || i >= BEHIND)
			words[i] = 0x5a5a5a5a5a5a5a5a;
	return 0;
}
