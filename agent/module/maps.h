/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps: what a module asks to remember. In: a map as libbpf has understood it. Out: what the kernel
 * will take for it, before it takes anything.
 */
#ifndef AGENT_MODULE_MAPS_H
#define AGENT_MODULE_MAPS_H

#include <bpf/libbpf.h>
#include <stdint.h>

#define MAPS_NAME_MAX 64 /* bytes of a map's name, its end included */

/* An upper bound of the memory that the kernel takes for a map, in bytes; UINT64_MAX: none is
 * known. */
uint64_t maps_bytes(const struct bpf_map *map);
/* What of a map no policy can grant, with what to do; NULL: nothing. */
const char *maps_denied(const struct bpf_map *map);

#endif
