/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words of a policy, and the kernel's numbers for them. Only grantable items are here. No policy
 * can grant a helper that reads other memory (probe_read, but also snprintf by %s) or makes
 * unbounded loops (loop, tail_call), nor a map of programs or maps.
 */
#ifndef AGENT_MODULE_WORDS_H
#define AGENT_MODULE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of a grantable helper or map type, or -1. */
int words_helper(const char *name);
int words_map_type(const char *name);

/* Returns the name, grantable or not; NULL: unknown to the kernel headers of the build. */
const char *words_helper_name(uint32_t number);
const char *words_map_type_name(uint32_t type);
bool words_helper_grantable(uint32_t number);
bool words_map_type_grantable(uint32_t type);

#endif
