// SPDX-License-Identifier: GPL-2.0
/*
 * view_run xdp|tc-in|tc-out LINKTYPE SHOWN:HASHED:PREFIX:PAYLOAD[:REACH]...: the modules' views of
 * frames. Each argument after the link type is one module (look.bpf.c) in its own slot.
 * bpf_prog_test_run runs the frames on standard input, stamped 1, 2, 3, ... Little-endian streams:
 *
 *     in:  length 4, bytes
 *     out: verdict 4 (0xfffffffe: the kernel would not run it), then the view that each module saw
 *
 * The fleet's keys are 1, 2 (anonymise) and 3, 4 (trajectory).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/module.h>

#include "agent/module/splice.h"
#include "agent/module/table.h"
#include "agent/programs/program.h"
#include "modules.skel.h"

#define FRAME_MAX 65536

static struct {
	struct modules_bpf *skel;
	struct bpf_program *prog;
	struct saluki_slot_table table;
	struct bpf_object *modules[SALUKI_MODULES_MAX];
	int count;
	bool tc, out;
} t;

static void die(const char *what)
{
	fprintf(stderr, "view_run: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Sets the fields shown to the next slot's module. */
static void grant(const char *what)
{
	struct saluki_slot *s = &t.table.slots[t.count++];

	if (sscanf(what, "%i:%i:%i:%i:%i", (int *)&s->shown, (int *)&s->hashed, (int *)&s->prefix,
		   (int *)&s->payload, (int *)&s->reach) < 4)
		die(what);
	s->used = 1;
	s->reach = s->reach ?: sizeof(struct frame_view);
}

static void load_runner(const char *hook, uint32_t linktype)
{
	struct bpf_program *p;

	t.skel = modules_bpf__open();
	if (!t.skel)
		die("open");
	t.tc = strcmp(hook, "xdp");
	t.out = !strcmp(hook, "tc-out");
	t.prog = t.tc ? t.skel->progs.saluki_modules_tc : t.skel->progs.saluki_modules_xdp;
	bpf_object__for_each_program(p, t.skel->obj) bpf_program__set_autoload(p, p == t.prog);
	t.skel->rodata->linktype = linktype;
	t.table.anonymise[0] = 1;
	t.table.anonymise[1] = 2;
	t.table.trajectory[0] = 3;
	t.table.trajectory[1] = 4;
	module_table_sum(&t.table);
	t.skel->rodata_table->saluki_table = t.table;
	bpf_map__set_max_entries(t.skel->maps.saluki_counters, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(t.skel->maps.saluki_slot_counts, libbpf_num_possible_cpus());
	if (program_drop_exchange(t.skel->obj) || modules_bpf__load(t.skel))
		die("load");
}

/* Adds the module with its shim. */
static void add(int slot)
{
	const char *path = t.tc ? "build/tests/bpf/look.tc.o" : "build/tests/bpf/look.xdp.o";
	struct bpf_object *o = t.modules[slot] = bpf_object__open_file(path, NULL);
	uint32_t place = SALUKI_SLOT_FIRST + slot;
	int fd;

	if (!o ||
	    bpf_map__reuse_fd(bpf_object__find_map_by_name(o, "saluki_view"),
			      bpf_map__fd(t.skel->maps.saluki_view)) ||
	    bpf_object__load(o))
		die(path);
	fd = bpf_program__fd(bpf_object__next_program(o, NULL));
	if (bpf_map_update_elem(bpf_map__fd(t.skel->maps.saluki_slots), &place, &fd, BPF_ANY))
		die("slot");
}

static void register_shims(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = splice_module);

	if (libbpf_register_prog_handler("module_xdp", BPF_PROG_TYPE_XDP, BPF_XDP, &opts) < 0 ||
	    libbpf_register_prog_handler("module_tc", BPF_PROG_TYPE_SCHED_CLS, 0, &opts) < 0)
		die("handlers");
}

static void stamp(uint64_t time_ns)
{
	struct saluki_counters c = {
		.time_ns = time_ns,
		.direction = t.out ? SALUKI_DIRECTION_OUT : SALUKI_DIRECTION_IN,
	};

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		if (bpf_map_update_elem(bpf_map__fd(t.skel->maps.saluki_counters), &cpu, &c,
					BPF_ANY))
			die("stamp");
}

static void put(const void *p, size_t len)
{
	if (fwrite(p, 1, len, stdout) != len)
		die("standard output");
}

static void run(const uint8_t *frame, uint32_t len, uint64_t number)
{
	static uint8_t out[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);
	static const struct frame_view none;
	uint32_t zero = 0;
	bool ran;

	stamp(number);
	for (int i = 0; i < t.count; i++)
		bpf_map_update_elem(bpf_object__find_map_fd_by_name(t.modules[i], "look_seen"),
				    &zero, &none, BPF_ANY);
	ran = !bpf_prog_test_run_opts(bpf_program__fd(t.prog), &opts);
	if (ran && (opts.data_size_out != len || memcmp(frame, out, len))) {
		fprintf(stderr, "view_run: the frame was changed\n");
		exit(1);
	}
	put(ran ? &opts.retval : &(uint32_t){ 0xfffffffe }, 4);
	for (int i = 0; i < t.count; i++) {
		struct frame_view v;

		if (bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(t.modules[i], "look_seen"),
					&zero, &v))
			die("view");
		put(&v, sizeof(v));
	}
}

int main(int argc, char **argv)
{
	static uint8_t frame[FRAME_MAX];
	uint32_t len;

	if (argc < 4 || argc > 3 + SALUKI_MODULES_MAX)
		return 2;
	register_shims();
	for (int i = 3; i < argc; i++)
		grant(argv[i]);
	load_runner(argv[1], atoi(argv[2]));
	for (int i = 0; i < t.count; i++)
		add(i);
	for (uint64_t number = 1; fread(&len, 4, 1, stdin) == 1; number++) {
		if (len > FRAME_MAX || fread(frame, 1, len, stdin) != len)
			die("standard input");
		run(frame, len, number);
	}
	return fflush(stdout) ? 1 : 0;
}
