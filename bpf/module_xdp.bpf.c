// SPDX-License-Identifier: GPL-2.0
/* The shim (module.h) for modules on a capture at XDP. */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "module.h"

SEC("module_xdp")
int saluki_module_xdp(struct xdp_md *ctx)
{
	(void)ctx;
	return module_call();
}
