/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Grant: what the operator's policy lets one module see, call, remember and spend. Written by
 * policy.c, held against what a module wants by check.c, made into masks by load.c. What is not
 * granted is not: all zero is a grant of nothing.
 */
#ifndef AGENT_MODULE_GRANT_H
#define AGENT_MODULE_GRANT_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include <saluki/module.h>

#include "wire/keys.h"

#define GRANT_KEYS_MAX 16
#define GRANT_INTERFACES_MAX 16
#define GRANT_HELPERS 256  /* numbers of helpers, from 0 */
#define GRANT_MAP_TYPES 64 /* and of types of maps */

/* Who is to prove that a module leaks nothing: proof.h. */
enum grant_proof {
	GRANT_PROOF_EITHER, /* the kernel where it can, else Saluki */
	GRANT_PROOF_KERNEL, /* the kernel, or the module is refused */
	GRANT_PROOF_SALUKI, /* the kernel is not asked, for its guards take time on each frame */
};

struct module_grant {
	char name[MODULE_NAME_MAX + 1]; /* of its section: a module's, or "*" */
	unsigned int line;		/* where that begins in the policy */

	unsigned int key_count;
	uint8_t keys[GRANT_KEYS_MAX][KEY_LEN];		 /* Ed25519, any of which may have signed */
	char interfaces[GRANT_INTERFACES_MAX][IFNAMSIZ]; /* patterns as in fnmatch(3) */
	unsigned int interface_count;

	/* VIEW_ bits of what takes a grant. Of those shown some are so only as a hash by the key
	 * [Keys] Anonymise: what is equal stays equal, and no more; and IP addresses, instead, so
	 * that those which begin alike still do, as far as they did. */
	uint32_t shown, hashed, prefix;
	uint32_t payload;		      /* bytes of it that are shown */
	uint64_t helpers[GRANT_HELPERS / 64]; /* by BPF_FUNC_ */
	uint64_t map_types;		      /* by BPF_MAP_TYPE_ */

	uint64_t map_memory;   /* bytes, at most, as all the others */
	uint32_t instructions; /* that the verifier goes through */
	uint32_t events;       /* a second */
	uint32_t priority;     /* 0 to 100; those of low priority are shed first */
	enum grant_proof proof;
	uint32_t named; /* which of these numbers it names: policy_grant.c */
};

static inline bool grant_helper(const struct module_grant *g, uint32_t number)
{
	return number < GRANT_HELPERS && (g->helpers[number / 64] >> number % 64 & 1);
}

static inline bool grant_map_type(const struct module_grant *g, uint32_t type)
{
	return type < GRANT_MAP_TYPES && (g->map_types >> type & 1);
}

#endif
