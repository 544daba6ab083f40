// SPDX-License-Identifier: GPL-2.0
/* Emits the addresses of each IP packet, and the sender's hardware address. */
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u8 said[38];

	if (!v || !(v->has & VIEW_IP) || !(v->has & VIEW_MAC))
		return 0;
	__builtin_memcpy(said, v->saddr, 16);
	__builtin_memcpy(said + 16, v->daddr, 16);
	__builtin_memcpy(said + 32, v->addr[1], 6);
	module_emit(v, said, sizeof(said));
	return 0;
}
