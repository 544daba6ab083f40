// SPDX-License-Identifier: GPL-2.0
/* The shim (module.h) for modules on a capture at tc. */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "module.h"

SEC("module_tc")
int saluki_module_tc(struct __sk_buff *skb)
{
	(void)skb;
	return module_call();
}
