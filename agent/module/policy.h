/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy: the operator's rules for modules on this sensor. A file that root owns, read once:
 *
 *     [Keys]
 *     Anonymise = /etc/saluki/anonymise.key
 *     Trajectory = /etc/saluki/trajectory.key
 *
 *     [Module count]
 *     Key = 3QzI...
 *     Interface = mon*, eth0
 *     Show = radiotap, mac hashed, ip prefix, ports, payload 64
 *     Helper = map_lookup_elem, ktime_get_ns
 *     Map = percpu_array
 *     MapMemory = 256K
 *     Instructions = 2000
 *     Events = 100
 *     Priority = 50
 *     Proof = kernel
 *
 * [Module *] applies to modules without a section of their own. Only listed rights are granted. The
 * syntax is that of wg.conf(5): names of sections and entries in any case, '#' begins a comment.
 */
#ifndef AGENT_MODULE_POLICY_H
#define AGENT_MODULE_POLICY_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "grant.h"

#define POLICY_DEFAULT "/etc/saluki/modules.conf"
#define POLICY_MAX (256 << 10) /* bytes of the file */
#define POLICY_GRANTS_MAX 64
#define POLICY_WHY_LEN 256

struct module_policy {
	char anonymise[PATH_MAX], trajectory[PATH_MAX]; /* files of keys; "": none */
	unsigned int count;
	struct module_grant grants[POLICY_GRANTS_MAX];
};

/* Secrets, which modules never see. */
struct module_secrets {
	uint8_t anonymise[KEY_LEN], trajectory[KEY_LEN]; /* zeros: not in the policy */
};

/* Reads a policy from `text`. Returns 0, or -EINVAL with line, word and remedy in `why`. */
int policy_parse(struct module_policy *p, const char *text, size_t len, char why[POLICY_WHY_LEN]);
/* Opens and reads it (trusted.h). Returns 0, or -errno after a line. */
int policy_read(struct module_policy *p, const char *path);
/* Reads the secrets that it names. Each is a file that only root can read, with one key of 'saluki
 * genpsk'. Returns 0, or -errno after a line. */
int policy_secrets(const struct module_policy *p, struct module_secrets *s);

/* Returns a module's grant: its own section, or [Module *], or NULL. */
const struct module_grant *policy_grant(const struct module_policy *p, const char *name);

/* ---- policy_grant.c -------------------------------------------------------------------------- */

/* Adds `word = value`, both not empty, to a grant. Returns 0, or -EINVAL with `why`. */
int grant_entry(struct module_grant *g, const char *word, char *value, char why[POLICY_WHY_LEN]);
bool grant_for_interface(const struct module_grant *g, const char *interface);
bool grant_key(const struct module_grant *g, const uint8_t key[KEY_LEN]);
/* Whether the grant needs [Keys] Anonymise. */
bool grant_anonymises(const struct module_grant *g);
/* A line with the fields that need no grant. */
void grant_print_shown(const struct module_grant *g, FILE *out);

#endif
