// SPDX-License-Identifier: GPL-2.0
/* Contains a program to be attached. */
// refused: wants a program of its own (section xdp): refused: a module is one function
#include <saluki/module.h>

SEC("xdp") int other(struct xdp_md *ctx)
{
	return ctx->rx_queue_index ? 1 : 2;
}

int module(struct frame_view *v)
{
	return v != (void *)0;
}
