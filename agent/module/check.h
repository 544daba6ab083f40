/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Check: a module held against the policy, as `saluki module check` says and `load` does, with the
 * same lines. In: paths. Out: the module, loaded into the kernel and attached to nothing. Always
 * holds: object, signature and policy are read once, here, and nothing is loaded before all that
 * can be known without has been granted.
 */
#ifndef AGENT_MODULE_CHECK_H
#define AGENT_MODULE_CHECK_H

#include <bpf/libbpf.h>
#include <stdio.h>

#include "policy.h"
#include "shim.h"
#include "signature.h"
#include "verify.h"

struct module_request {
	const char *object;    /* M.o; M.o.sig lies beside it */
	const char *policy;    /* NULL: POLICY_DEFAULT */
	const char *interface; /* NULL: any */
	enum module_hook hook; /* whose shim */
	int view_fd;	       /* the capture's map of views; -1: a new one, to try */
	FILE *lines;	       /* "wants X: granted", "wants X: refused: why"; NULL: nobody */
};

/* What has passed. */
struct module_checked {
	struct bpf_object *obj;		   /* loaded; NULL: not tried, for want of privilege */
	struct bpf_program *prog;	   /* of it, for a slot */
	struct module_signature signature; /* name, serial */
	struct module_grant grant;
	struct module_secrets secrets; /* of the same policy; zeros where `obj` is NULL */
	struct verified verified;      /* zeros where `obj` is NULL */
	uint64_t map_memory;	       /* bytes */
};

/* Returns 0 where everything is granted; -EPERM where something is refused, after its line; another
 * -errno where a file cannot be read, after a line on standard error. `out` can be freed after all.
 */
int module_check(struct module_checked *out, const struct module_request *r);
void module_checked_free(struct module_checked *c);

#endif
