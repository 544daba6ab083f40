// SPDX-License-Identifier: GPL-2.0
/* Verify: see verify.h. */
#include "verify.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/programs/insn.h"
#include "agent/programs/program.h"
#include "flow.h"
#include "access_extent.h"
#include "shape.h"
#include "splice.h"
#include "verify_log.h"
#include "wants.h"
#include "zeros.h"

/* libbpf's callback has no argument for us, so there is one load at a time. */
static struct {
	const struct module_grant *grant;
	const struct bpf_object *obj;
	enum module_hook hook;
	size_t shim_insns;
	bool seen; /* the program was loaded */
	bool refused;
	char leaks[FLOW_WHY_LEN]; /* how it leaks; "": it does not */
	struct verified verified;
	struct proof_rights rights; /* dropped for the kernel's proof */
} loading;

static bool is_own_map(int fd)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, loading.obj) if (bpf_map__fd(map) == fd) return true;
	return false;
}

/* By now maps are descriptors of this process, which has others open. A module may use only its
 * own. The view's map is for the shim only, as it has other modules' views on other CPUs. */
static bool maps_are_own(const struct bpf_insn *insns, size_t count)
{
	int view = bpf_object__find_map_fd_by_name(loading.obj, SHAPE_VIEW);

	for (size_t n = 0; n < count; n++)
		if (insn_is_wide(&insns[n]) && insns[n].src_reg &&
		    (!is_own_map(insns[n].imm) ||
		     (insns[n].imm == view && n >= loading.shim_insns)))
			return false;
	return true;
}

static size_t maps_of(const struct bpf_object *obj, struct flow_map *out)
{
	const struct bpf_map *map;
	size_t count = 0;

	bpf_object__for_each_map(map, obj)
	{
		if (out)
			out[count] = (struct flow_map){ bpf_map__fd(map), bpf_map__type(map),
							bpf_map__key_size(map),
							bpf_map__value_size(map) };
		count++;
	}
	return count;
}

/* Whether the verifier proves it. With guards against speculation, the verifier processes more
 * instructions. Unless the policy demands this proof, they must be within the grant. */
static bool kernel_proves(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts)
{
	struct bpf_prog_load_opts strict = *opts;
	enum grant_proof asked = loading.grant->proof;
	char *log = asked == GRANT_PROOF_SALUKI ? NULL : calloc(1, VERIFY_LOG_LEN);
	bool within;
	int fd;

	if (!log)
		return false;
	strict.log_buf = log;
	strict.log_size = VERIFY_LOG_LEN;
	strict.log_level = VERIFY_LOG_LEVEL;
	fd = proof_load(bpf_program__type(prog), bpf_program__insns(prog),
			bpf_program__insn_cnt(prog), &strict);
	within = verify_log_processed(log) <= loading.grant->instructions;
	if (fd < 0)
		snprintf(loading.verified.unproved, VERIFY_WHY_LEN, "%.200s",
			 *log ? verify_log_why(log) : strerror(-fd));
	else
		close(fd);
	free(log);
	return fd >= 0 && (within || asked == GRANT_PROOF_KERNEL);
}

/* A module that the kernel proved needs no zeros. Otherwise the kernel may prove it with zeros. */
static int prove(struct bpf_program *prog, struct bpf_prog_load_opts *opts, const uint64_t *zeros)
{
	size_t count = bpf_program__insn_cnt(prog);
	bool proved = kernel_proves(prog, opts);
	uint64_t any = 0;
	int err = 0;

	for (size_t n = 0; n < count; n++)
		any |= zeros[n];
	if (!proved && any) {
		err = zeros_insert(prog, opts, loading.shim_insns, zeros);
		proved = !err && kernel_proves(prog, opts);
	}
	loading.verified.proof = proved ? PROOF_KERNEL : PROOF_SALUKI;
	return err;
}

/* Checks that it keeps to its view: flow.h. */
static int keep_to_view(struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	size_t count = bpf_program__insn_cnt(prog), maps = maps_of(loading.obj, NULL);
	struct flow_map *all = calloc(maps + 1, sizeof(*all));
	uint64_t *zeros = calloc(count, sizeof(*zeros));
	int err = all && zeros ? 0 : -ENOMEM;

	if (!err) {
		maps_of(loading.obj, all);
		err = flow_check(bpf_program__insns(prog), count, loading.shim_insns,
				 &(struct flow_maps){ all, maps }, zeros, loading.leaks);
	}
	err = err ?: prove(prog, opts, zeros);
	free(all);
	free(zeros);
	return err;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t count = bpf_program__insn_cnt(prog);
	struct module_wants w = { 0 };
	int err;

	if (!loading.grant || count < loading.shim_insns)
		return -EPERM;
	loading.seen = true;
	wants_insns(&w, bpf_program__insns(prog) + loading.shim_insns, count - loading.shim_insns);
	loading.refused = !wants_granted(&w, loading.grant) ||
			  !module_shim_is(loading.hook, bpf_program__insns(prog)) ||
			  !maps_are_own(bpf_program__insns(prog), count);
	if (loading.refused)
		return -EPERM;
	err = splice_module(prog, opts, cookie) ?: keep_to_view(prog, opts);
	if (!err)
		loading.verified.reach = access_extent_of(
			prog, opts, bpf_object__find_map_fd_by_name(loading.obj, SHAPE_VIEW));
	if (!err && loading.verified.proof == PROOF_KERNEL)
		err = proof_drop(&loading.rights);
	/* If the verifier refuses it too, the verifier's reason is reported. */
	return *loading.leaks ? 0 : err;
}

/* A slot for XDP programs also compares the attach type. */
static int handlers_init(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	static bool done;
	int xdp, tc;

	if (done)
		return 0;
	xdp = libbpf_register_prog_handler(module_shim(MODULE_XDP).section, BPF_PROG_TYPE_XDP,
					   BPF_XDP, &opts);
	tc = libbpf_register_prog_handler(module_shim(MODULE_TC).section, BPF_PROG_TYPE_SCHED_CLS,
					  0, &opts);
	done = xdp >= 0 && tc >= 0;
	return xdp < 0 ? xdp : tc < 0 ? tc : 0;
}

static int silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

struct bpf_program *verify_program(const struct bpf_object *obj)
{
	return bpf_object__next_program(obj, NULL);
}

int verify_open(struct bpf_object **obj, const struct module_object *linked, const char *name,
		enum module_hook hook, char why[VERIFY_WHY_LEN])
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	libbpf_print_fn_t before = libbpf_set_print(silent);
	struct bpf_program *prog;
	int err = handlers_init();

	*obj = err ? NULL : bpf_object__open_mem(linked->data, linked->len, &opts);
	err = err ?: libbpf_get_error(*obj);
	libbpf_set_print(before);
	if (err) {
		*obj = NULL;
		snprintf(why, VERIFY_WHY_LEN, "libbpf does not open it: %s", strerror(-err));
		return err;
	}
	program_functions(*obj);
	prog = verify_program(*obj);
	if (prog && !strcmp(bpf_program__section_name(prog), module_shim(hook).section) &&
	    !bpf_object__next_program(*obj, prog))
		return 0;
	snprintf(why, VERIFY_WHY_LEN, "it has another program than the one that calls it");
	return -EPERM;
}

/* ---- load ------------------------------------------------------------------------------------ */

static void explain(char *log, int err, char why[VERIFY_WHY_LEN])
{
	if (loading.refused)
		snprintf(why, VERIFY_WHY_LEN, "its last instructions are not those granted");
	else if (err == -EPROTO) /* splice.h */
		snprintf(why, VERIFY_WHY_LEN,
			 "module() is called by another function, or by itself; put what they have "
			 "in common into a function of its own");
	else if (err == -ERANGE)
		snprintf(why, VERIFY_WHY_LEN, "it jumps out of module()");
	else if (err && !*log)
		snprintf(why, VERIFY_WHY_LEN, "the kernel does not take it: %s", strerror(-err));
	else if (err)
		snprintf(why, VERIFY_WHY_LEN, "the verifier: %.400s", verify_log_why(log));
	else
		snprintf(why, VERIFY_WHY_LEN, "%s", loading.leaks);
}

static int load(struct bpf_object *obj, int view_fd, char *log)
{
	struct bpf_map *view = bpf_object__find_map_by_name(obj, SHAPE_VIEW);
	struct bpf_program *prog = verify_program(obj);
	int err = view ? 0 : -ENOENT;

	bpf_program__set_log_buf(prog, log, VERIFY_LOG_LEN);
	bpf_program__set_log_level(prog, VERIFY_LOG_LEVEL);
	if (!err && view_fd >= 0)
		err = bpf_map__reuse_fd(view, view_fd);
	err = err ?: bpf_object__load(obj);
	proof_restore(&loading.rights);
	bpf_program__set_log_buf(prog, NULL, 0);
	return err;
}

int verify_load(struct bpf_object *obj, const struct module_grant *grant, enum module_hook hook,
		int view_fd, struct verified *v, char why[VERIFY_WHY_LEN])
{
	libbpf_print_fn_t before = libbpf_set_print(silent);
	char *log = calloc(1, VERIFY_LOG_LEN);
	int err;

	memset(&loading, 0, sizeof(loading));
	loading.grant = grant;
	loading.obj = obj;
	loading.hook = hook;
	loading.shim_insns = module_shim_insns(hook);
	err = log ? load(obj, view_fd, log) : -ENOMEM;
	loading.refused |= !err && !loading.seen;
	err = loading.refused ? -EPERM : err;
	loading.verified.instructions = err ? 0 : verify_log_processed(log);
	*v = loading.verified;
	if (err || *loading.leaks)
		explain(log ?: "", err, why);
	loading.grant = NULL;
	free(log);
	libbpf_set_print(before);
	return *loading.leaks ? -EPERM : err;
}

/* ---- what it takes --------------------------------------------------------------------------- */

static uint64_t map_memory(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "memlock:\t%" SCNu64, &bytes) != 1)
		;
	if (f)
		fclose(f);
	return bytes;
}

uint64_t verify_map_memory(const struct bpf_object *obj)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (strcmp(bpf_map__name(map), SHAPE_VIEW))
		bytes += map_memory(bpf_map__fd(map));
	return bytes;
}
