// SPDX-License-Identifier: GPL-2.0
/* The shim (module.h) of modules that run behind XDP. */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "module.h"

SEC("module_xdp")
int saluki_module_xdp(struct xdp_md *ctx)
{
	(void)ctx;
	return module_call();
}
