// SPDX-License-Identifier: GPL-2.0
/* Replaces generation.c in builds without libbpf, which are not for virtual machines. */
#include "agent/control/generation.h"

int generation_open(void)
{
	return -1;
}

bool generation_changed(int fd)
{
	return false;
}
