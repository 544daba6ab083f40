// SPDX-License-Identifier: GPL-2.0
/*
 * trim_run xdp|tc[-mapped|-exchange] LINKTYPE SNAPLEN headers|all [consume|drop]: feeds frames from
 * standard input to the capture program (bpf_prog_test_run_opts) and writes the results to standard
 * output. Both are little-endian streams:
 *
 *     in:  length 4, bytes
 *     out: verdict 4 (0xfffffffe: the kernel would not run it), kept 4, original length 4,
 *          linktype 2, direction 1, counted as 1 (1: malformed, 2: bad_fcs, 4: filtered),
 *          kept bytes
 *
 * It checks that there is exactly one record, or none if the program filtered the frame (then
 * everything after the verdict except the counts is 0). It also checks that the counters balance,
 * and that the frame came out unchanged.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/record.h>

#include "agent/rings/mapped.h"
#include "agent/programs/program.h"
#include "capture.skel.h"

#define FRAME_MAX 65536
#define MAPPED_SIZE 65536 /* small: records often wrap */

static struct result {
	const struct saluki_record *record;
	unsigned int count;
} result;

static uint8_t record_copy[sizeof(struct saluki_record) + SALUKI_SNAPLEN_MAX];

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx;
	memcpy(record_copy, data, size);
	result.record = (struct saluki_record *)record_copy;
	result.count++;
	return 0;
}

/* The program's output, by either kind of ring. */
struct output {
	struct ring_buffer *ring;
	struct mapped mapped; /* lanes_len 0: not used */
	__u64 *mark;
};

static void die(const char *what)
{
	fprintf(stderr, "trim_run: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct saluki_counters counters(struct capture_bpf *skel)
{
	struct saluki_counters c, sum = { 0 };

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.saluki_counters), &cpu, &c))
			die("counters");
		sum.seen += c.seen;
		sum.captured += c.captured;
		sum.filtered += c.filtered;
		sum.ring_full += c.ring_full;
		sum.copy_failed += c.copy_failed;
		sum.malformed += c.malformed;
		sum.bad_fcs += c.bad_fcs;
	}
	if (sum.seen != sum.filtered + sum.ring_full + sum.copy_failed + sum.captured) {
		fprintf(stderr, "trim_run: the counters do not balance\n");
		exit(1);
	}
	return sum;
}

static void put(const void *p, size_t len)
{
	if (fwrite(p, 1, len, stdout) != len)
		die("standard output");
}

static void take(struct output *o)
{
	const struct saluki_record *r;

	ring_buffer__consume(o->ring);
	if (!o->mapped.lanes_len)
		return;
	while ((r = mapped_next(&o->mapped)))
		on_record(NULL, (void *)r, sizeof(*r) + r->kept_len);
	mapped_mark(&o->mapped, true, o->mark);
	mapped_release(&o->mapped, o->mark);
}

static void run(struct capture_bpf *skel, int prog, struct output *o, const uint8_t *frame,
		uint32_t len)
{
	static uint8_t out[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);
	struct saluki_counters before = counters(skel), after;
	static const struct saluki_record none;
	uint32_t verdict = 0xfffffffe, zero = 0;
	uint8_t counted;

	result.count = 0;
	result.record = &none;
	if (bpf_prog_test_run_opts(prog, &opts)) {
		put(&verdict, 4);
		for (int i = 0; i < 3; i++)
			put(&zero, 4);
		return;
	}
	take(o);
	after = counters(skel);
	counted = (after.malformed - before.malformed) | (after.bad_fcs - before.bad_fcs) << 1 |
		  (after.filtered - before.filtered) << 2;
	if (result.count != !(counted & 4) || after.captured != before.captured + result.count) {
		fprintf(stderr, "trim_run: %u records for one frame\n", result.count);
		exit(1);
	}
	if (opts.data_size_out != len || memcmp(frame, out, len)) {
		fprintf(stderr, "trim_run: the frame was changed\n");
		exit(1);
	}
	put(&opts.retval, 4);
	put(&result.record->kept_len, 4);
	put(&result.record->orig_len, 4);
	put(&result.record->linktype, 2);
	put(&result.record->direction, 1);
	put(&counted, 1);
	put(result.record + 1, result.record->kept_len);
}

static void output_open(struct output *o, struct capture_bpf *skel, int cpus)
{
	o->ring = ring_buffer__new(bpf_map__fd(skel->maps.saluki_ring), on_record, NULL, NULL);
	o->mark = calloc(cpus, sizeof(*o->mark));
	if (!o->ring || !o->mark)
		die("ring");
	if (skel->rodata->mapped_size &&
	    mapped_map(&o->mapped, bpf_map__fd(skel->maps.saluki_mapped), MAPPED_SIZE, cpus))
		die("mapped ring");
}

int main(int argc, char **argv)
{
	struct capture_bpf *skel = capture_bpf__open();
	static uint8_t frame[FRAME_MAX];
	struct output output = { 0 };
	int cpus = libbpf_num_possible_cpus();
	uint32_t len;
	int tc;

	if (argc < 5 || !skel)
		return 2;
	tc = !strncmp(argv[1], "tc", 2);
	skel->rodata->linktype = atoi(argv[2]);
	skel->rodata->snaplen = atoi(argv[3]);
	skel->rodata->keep_headers = !strcmp(argv[4], "headers");
	skel->rodata->consume = argc > 5 && !strcmp(argv[5], "consume");
	skel->rodata->drop_bad_fcs = argc > 5 && !strcmp(argv[5], "drop");
	bpf_map__set_max_entries(skel->maps.saluki_counters, cpus);
	if (strchr(argv[1], '-')) {
		skel->rodata->mapped_size = MAPPED_SIZE;
		skel->rodata->mapped_exchange = !!strstr(argv[1], "-exchange");
		bpf_map__set_max_entries(skel->maps.saluki_mapped, cpus);
		bpf_map__set_value_size(skel->maps.saluki_mapped, mapped_value_size(MAPPED_SIZE));
	}
	bpf_program__set_autoload(skel->progs.saluki_xdp, !tc);
	bpf_program__set_autoload(skel->progs.saluki_tc_ingress, tc);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress, 0);
	if (!skel->rodata->mapped_exchange && program_drop_exchange(skel->obj))
		die("exchange");
	if (capture_bpf__load(skel))
		die("load");
	output_open(&output, skel, cpus);
	while (fread(&len, 4, 1, stdin) == 1) {
		if (len > FRAME_MAX || fread(frame, 1, len, stdin) != len)
			die("standard input");
		run(skel,
		    bpf_program__fd(tc ? skel->progs.saluki_tc_ingress : skel->progs.saluki_xdp),
		    &output, frame, len);
	}
	mapped_unmap(&output.mapped);
	ring_buffer__free(output.ring);
	capture_bpf__destroy(skel);
	return fflush(stdout) ? 1 : 0;
}
