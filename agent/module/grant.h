/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Grant: one module's rights by the operator's policy: fields, helpers, maps and costs. policy.c
 * fills it, check.c compares a module's wants with it, load.c makes masks of it. All zero grants
 * nothing.
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
#define GRANT_HELPERS 256  /* helpers' numbers, from 0 */
#define GRANT_MAP_TYPES 64 /* and map types */

/* Which proof is needed that a module leaks nothing: proof.h. */
enum grant_proof {
	GRANT_PROOF_EITHER, /* the kernel's if possible, else Saluki's */
	GRANT_PROOF_KERNEL, /* the kernel's, else the module is refused */
	GRANT_PROOF_SALUKI, /* Saluki's: the kernel's guards cost time on each frame */
};

struct module_grant {
	char name[MODULE_NAME_MAX + 1]; /* of the section: a module's, or "*" */
	unsigned int line;		/* where the section begins in the policy */

	unsigned int key_count;
	uint8_t keys[GRANT_KEYS_MAX][KEY_LEN];		 /* Ed25519; any may have signed */
	char interfaces[GRANT_INTERFACES_MAX][IFNAMSIZ]; /* patterns as in fnmatch(3) */
	unsigned int interface_count;

	/* VIEW_ bits that need a grant. `hashed`: shown as hashes with the key [Keys] Anonymise, so
	 * that only equality is visible. `prefix`: IP addresses as pseudonyms with the same common
	 * prefixes. */
	uint32_t shown, hashed, prefix;
	uint32_t payload;		      /* bytes of payload shown */
	uint64_t helpers[GRANT_HELPERS / 64]; /* by BPF_FUNC_ */
	uint64_t map_types;		      /* by BPF_MAP_TYPE_ */

	uint64_t map_memory;   /* limit in bytes; all others are limits too */
	uint32_t instructions; /* processed by the verifier */
	uint32_t events;       /* per second */
	uint32_t priority;     /* 0 to 100; low priorities are skipped first */
	enum grant_proof proof;
	uint32_t named; /* which of these numbers the section sets: policy_grant.c */
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
