/* SPDX-License-Identifier: GPL-2.0 */
/* Plain: the view of a frame copied to user space, for a module that runs there. */
#ifndef BENCH_PLAIN_VIEW_H
#define BENCH_PLAIN_VIEW_H

#include <saluki/module.h>
#include <saluki/record.h>

/* Fills the groups `wanted` (VIEW_ bits), and so many bytes of payload. */
void plain_view(struct frame_view *v, const struct saluki_record *r, __u32 wanted, __u32 payload);

#endif
