// SPDX-License-Identifier: GPL-2.0
/* Chain: see modules_chain.h. */
#include "modules_chain.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/module/access_extent.h"
#include "agent/module/splice.h"
#include "agent/module/table.h"
#include "agent/programs/program.h"

#define SNAPLEN 192

void chain_die(const char *what)
{
	fprintf(stderr, "modules_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(int err, const char *what)
{
	if (!err)
		return;
	errno = err < 0 ? -err : err;
	chain_die(what);
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct bpf_object *object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);

	if (!obj)
		chain_die(path);
	return obj;
}

static struct bpf_map *map(const struct bpf_object *obj, const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (!m)
		chain_die(name);
	return m;
}

/* Returns a constant's or variable's offset in its map. */
static uint32_t offset(const struct bpf_object *obj, const char *section, const char *name)
{
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_type *t =
		btf__type_by_id(btf, btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC));

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(t) + i;

		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, v->type)->name_off),
			    name))
			return v->offset;
	}
	errno = ENOENT;
	chain_die(name);
}

static void constant(struct bpf_object *obj, const char *name, uint32_t value)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		size_t len;
		uint8_t *p = (uint8_t *)bpf_map__initial_value(m, &len);

		if (p && strstr(bpf_map__name(m), ".rodata")) {
			memcpy(p + offset(obj, ".rodata", name), &value, sizeof(value));
			return;
		}
	}
	errno = ENOENT;
	chain_die(name);
}

/* Loads the named program of `obj`. */
static int load(struct bpf_object *obj, const char *name)
{
	struct bpf_program *p, *wanted = NULL;

	bpf_object__for_each_program(p, obj)
	{
		bool is = !strcmp(bpf_program__name(p), name);

		bpf_program__set_autoload(p, is);
		wanted = is ? p : wanted;
	}
	if (!wanted)
		chain_die(name);
	bpf_program__set_type(wanted, BPF_PROG_TYPE_XDP);
	bpf_program__set_expected_attach_type(wanted, BPF_XDP);
	check(bpf_object__load(obj), name);
	return bpf_program__fd(wanted);
}

static void reuse(struct bpf_object *obj, const struct bpf_object *from, const char *name)
{
	check(bpf_map__reuse_fd(map(obj, name), bpf_map__fd(map(from, name))), name);
}

/* ---- the chain ------------------------------------------------------------------------------- */

/* A map's memory location matters more than all else: compared chains share it. */
static void reuse_maps(struct bpf_object *obj, const struct bpf_object *from)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj) if (!bpf_map__is_internal(m))
		reuse(obj, from, bpf_map__name(m));
}

struct ring chain_ring;

struct chain_capture chain_capture(const char *path)
{
	struct chain_capture c = { .object = object(path) };
	static const struct bpf_object *first;

	constant(c.object, "snaplen", SNAPLEN);
	bpf_map__set_max_entries(map(c.object, "saluki_counters"), libbpf_num_possible_cpus());
	bpf_map__set_max_entries(map(c.object, "saluki_ring"), CHAIN_RING);
	if (first)
		reuse_maps(c.object, first);
	check(program_drop_exchange(c.object), path);
	c.program = load(c.object, "saluki_xdp");
	if (first)
		return c;
	first = c.object;
	check(ring_map(&chain_ring, bpf_map__fd(map(c.object, "saluki_ring")), CHAIN_RING), "ring");
	return c;
}

struct chain_capture chain_empty(void)
{
	const struct bpf_insn insns[] = {
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 2 /* XDP_PASS */ },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_XDP);
	struct chain_capture c = { .program = bpf_prog_load(BPF_PROG_TYPE_XDP, "empty", "GPL",
							    insns, 2, &opts) };

	check(c.program < 0 ? c.program : 0, "empty");
	return c;
}

static void set_table(struct bpf_object *obj, const struct saluki_slot_table *table)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj) if (strstr(bpf_map__name(m), ".rodata.table"))
		check(bpf_map__set_initial_value(m, table, sizeof(*table)), "table");
}

/* Replaces the runner; the new one reuses the former one's maps for modules. */
static void open_runner(struct chain *c, const char *path, const struct chain_grant *grant)
{
	static const char *const captures[] = { "saluki_slots", "saluki_counters", "saluki_ring",
						"saluki_mapped", "saluki_wakeup" };
	static const char *const firsts[] = { "saluki_slot_counts", "saluki_view" };
	struct bpf_object *first = c->runner;

	c->runner = object(path);
	if (grant) {
		constant(c->runner, "inlined_wanted", grant->shown);
		constant(c->runner, "inlined_payload", grant->payload);
	}
	set_table(c->runner, &c->table);
	bpf_map__set_max_entries(map(c->runner, "saluki_slot_counts"), libbpf_num_possible_cpus());
	for (unsigned int i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
		reuse(c->runner, c->capture->object, captures[i]);
	for (unsigned int i = 0; first && i < sizeof(firsts) / sizeof(firsts[0]); i++)
		reuse(c->runner, first, firsts[i]);
	check(program_drop_exchange(c->runner), path);
	c->programs[SALUKI_SLOT_RUN] = load(c->runner, "saluki_modules_xdp");
	bpf_object__close(first);
}

void chain_open(struct chain *c, struct chain_capture *capture, const char *runner,
		const struct chain_grant *grant)
{
	memset(c, 0, sizeof(*c));
	c->capture = capture;
	if (runner)
		open_runner(c, runner, grant);
}

/* The module being loaded: libbpf's callback has no argument for it. */
static struct {
	int view_fd;
	uint32_t reach;
} loading;

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	int err = splice_module(prog, opts, cookie);

	loading.reach = err ? 0 : access_extent_of(prog, opts, loading.view_fd);
	return err;
}

void chain_add(struct chain *c, int slot, const char *module, const struct chain_grant *grant,
	       const struct chain *inlined)
{
	struct saluki_slot *s = &c->table.slots[slot];

	c->modules[slot] = object(module);
	if (inlined)
		reuse_maps(c->modules[slot], inlined->runner);
	loading.view_fd = bpf_map__fd(map(c->runner, "saluki_view"));
	reuse(c->modules[slot], c->runner, "saluki_view");
	c->programs[SALUKI_SLOT_FIRST + slot] = load(c->modules[slot], "saluki_module_xdp");
	s->used = 1;
	s->shown = grant->shown;
	s->payload = grant->payload;
	s->events = UINT32_MAX;
	s->reach = loading.reach;
	s->sheds = 1; /* as for all priorities except the highest; this never happens */
	s->shed_at = s->back_at = UINT64_MAX;
	module_table_sum(&c->table);
	open_runner(c, CHAIN_RUNNER, NULL);
}

uint64_t chain_seen(const struct chain *c, int slot)
{
	int cpus = libbpf_num_possible_cpus(),
	    fd = bpf_map__fd(map(c->runner, "saluki_slot_counts"));
	struct saluki_slot_counters of[SALUKI_MODULES_MAX];
	uint64_t seen = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (bpf_map_lookup_elem(fd, &cpu, of))
			chain_die("counters");
		seen += of[slot].frames;
	}
	return seen;
}

/* ---- feeding --------------------------------------------------------------------------------- */

static struct bpf_object *feed;
static int feed_prog;

/* Each test run of an unattached program makes the kernel rebuild its XDP dispatcher, which takes
 * 24 ms. So it is attached, in our own network namespace. */
static void feed_attach(void)
{
	if (unshare(CLONE_NEWNET) ||
	    bpf_xdp_attach(if_nametoindex("lo"), feed_prog, XDP_FLAGS_SKB_MODE, NULL))
		chain_die("attach");
}

static int print_all(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	return vfprintf(stderr, fmt, args);
}

void chain_feed(const struct feed_frame *frames, uint32_t count)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	int fd;

	if (libbpf_register_prog_handler("module_xdp", BPF_PROG_TYPE_XDP, BPF_XDP, &opts) < 0)
		chain_die("handler");
	libbpf_set_print(getenv("MODULES_COST_LOG") ? print_all : NULL);
	feed = object("build/tests/bench/feed.bpf.o");
	constant(feed, "feed_count", count);
	bpf_map__set_max_entries(map(feed, "feed_frames"), count);
	feed_prog = load(feed, "feed");
	fd = bpf_map__fd(map(feed, "feed_frames"));
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(fd, &i, &frames[i], BPF_ANY))
			chain_die("frames");
	feed_attach();
}

static void put(int fd, uint32_t place, int prog)
{
	if (prog ? bpf_map_update_elem(fd, &place, &prog, BPF_ANY)
		 : bpf_map_delete_elem(fd, &place) && errno != ENOENT)
		chain_die("a place for a program");
}

void chain_choose(const struct chain *c)
{
	uint32_t zero = 0, at = 0;
	struct bpf_map *slots =
		c->capture && c->capture->object
			? bpf_object__find_map_by_name(c->capture->object, "saluki_slots")
			: NULL;

	if (bpf_map_update_elem(bpf_map__fd(map(feed, "feed_next")), &zero, &at, BPF_ANY))
		chain_die("feed");
	put(bpf_map__fd(map(feed, "feed_program")), 0, c->capture ? c->capture->program : 0);
	for (uint32_t i = 0; slots && i < SALUKI_SLOTS; i++)
		put(bpf_map__fd(slots), i, c->programs[i]);
}

void chain_run(uint32_t count)
{
	static uint8_t frame[1514];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = count);

	if (bpf_prog_test_run_opts(feed_prog, &opts))
		chain_die("test run");
	if (opts.retval != 2) { /* XDP_PASS */
		errno = EPROTO;
		chain_die("a frame was not passed on");
	}
}
