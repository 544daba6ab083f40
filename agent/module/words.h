/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words of a policy, and the numbers that the kernel has for them. Only what a module can be let
 * have is here: no policy can grant a helper that reads what the module was not given (probe_read,
 * but also snprintf, whose %s does), that makes loops without end of its own (loop, tail_call), or
 * a map that holds programs or other maps.
 */
#ifndef AGENT_MODULE_WORDS_H
#define AGENT_MODULE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of a grantable helper or map type, or -1. */
int words_helper(const char *name);
int words_map_type(const char *name);

/* The name, grantable or not; NULL: the kernel's headers had none yet. */
const char *words_helper_name(uint32_t number);
const char *words_map_type_name(uint32_t type);
bool words_helper_grantable(uint32_t number);
bool words_map_type_grantable(uint32_t type);

#endif
