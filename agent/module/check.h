/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Check: checks a module against the policy, for `saluki module check` and `load`, with the same
 * lines. In: paths. Out: the module, loaded into the kernel and not attached. Always holds: object,
 * signature and policy are read once, here. A module is loaded only after all checks that need no
 * loading.
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
	FILE *lines;	       /* "wants X: granted", "wants X: refused: why"; NULL: not printed */
};

/* A module that passed. */
struct module_checked {
	struct bpf_object *obj;		   /* loaded; NULL: not loaded, for lack of privilege */
	struct bpf_program *prog;	   /* the program for a slot */
	struct module_signature signature; /* name, serial */
	struct module_grant grant;
	struct module_secrets secrets; /* of the same policy; zeros where `obj` is NULL */
	struct verified verified;      /* zeros where `obj` is NULL */
	uint64_t map_memory;	       /* bytes */
};

/* Returns 0 if everything is granted; -EPERM if something is refused, after its line; another
 * -errno if a file cannot be read, after a line on standard error. `out` can be freed in every
 * case.
 */
int module_check(struct module_checked *out, const struct module_request *r);
void module_checked_free(struct module_checked *c);

#endif
