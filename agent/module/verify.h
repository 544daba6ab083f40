/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verify: opens and loads a linked module with libbpf, without attaching it. In: the linked object
 * and the grant. Out: a program that the kernel's verifier accepted, and its costs. Always holds:
 * the loaded instructions are within the grant, as they are checked when libbpf passes them to the
 * kernel.
 */
#ifndef AGENT_MODULE_VERIFY_H
#define AGENT_MODULE_VERIFY_H

#include <bpf/libbpf.h>

#include "grant.h"
#include "object.h"
#include "proof.h"
#include "shim.h"

#define VERIFY_WHY_LEN 512

/* Opens it, so that its maps can be checked. Returns 0, or -errno with `why`. */
int verify_open(struct bpf_object **obj, const struct module_object *linked, const char *name,
		enum module_hook hook, char why[VERIFY_WHY_LEN]);

/* The verifier's results. */
struct verified {
	uint32_t instructions; /* that the verifier went through: no frame takes more; 0: this
				* kernel does not say (Linux before 5.2) */
	uint32_t reach;	       /* bytes of its view that it can read or write at most */
	enum proof proof;
	char unproved[VERIFY_WHY_LEN]; /* why the kernel did not prove it; "": it did */
};

/* Loads it. `view_fd`: the capture's view, which it shares; -1: a view of its own. Needs privilege.
 * Returns 0, or -errno with `why`; -EPERM: not within the grant. */
int verify_load(struct bpf_object *obj, const struct module_grant *grant, enum module_hook hook,
		int view_fd, struct verified *v, char why[VERIFY_WHY_LEN]);

struct bpf_program *verify_program(const struct bpf_object *obj);
/* Returns the memory of its maps without the view, as the kernel reports it, in bytes. */
uint64_t verify_map_memory(const struct bpf_object *obj);

#endif
