/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps: checks a module's maps before they are made. In: a map as parsed by libbpf. Out: a bound of
 * its memory, and whether a policy can grant it.
 */
#ifndef AGENT_MODULE_MAPS_H
#define AGENT_MODULE_MAPS_H

#include <bpf/libbpf.h>
#include <stdint.h>

#define MAPS_NAME_MAX 64 /* bytes of a map's name, its end included */

/* Returns an upper bound of the kernel's memory for a map, in bytes; UINT64_MAX: unknown. */
uint64_t maps_bytes(const struct bpf_map *map);
/* Returns why no policy can grant a map, with the remedy; NULL: it can. */
const char *maps_denied(const struct bpf_map *map);

#endif
