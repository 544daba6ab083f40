// SPDX-License-Identifier: GPL-2.0
/*
 * filter_cost FILE EXPRESSION: the capture program's time for a frame that its filter refuses, and
 * the time of an XDP program that only passes, in nanoseconds, one after the other. The kernel
 * times many runs (bpf_prog_test_run) on each of FRAMES frames of a capture; the fastest of ROUNDS
 * counts.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/filter/filter_load.h"
#include "capture.skel.h"
#include "common/pcap_read.h"

#define FRAMES 64
#define FRAME_MAX 1514
#define REPEAT 100000
#define ROUNDS 5

static struct {
	uint8_t bytes[FRAME_MAX];
	uint32_t len;
} frames[FRAMES];
static struct filter filter;

static void die(const char *what)
{
	fprintf(stderr, "filter_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads frames from all parts of the file. */
static unsigned int read_frames(const char *path)
{
	struct pcap_reader reader;
	struct pcap_frame f;
	unsigned int n = 0;

	if (pcap_open(&reader, open(path, O_RDONLY | O_CLOEXEC)))
		die(path);
	for (unsigned int i = 0; n < FRAMES && pcap_next(&reader, &f) == 1; i++) {
		if (i % 16 || f.cap_len < 14 || f.cap_len > FRAME_MAX)
			continue;
		memcpy(frames[n].bytes, f.data, f.cap_len);
		frames[n++].len = f.cap_len;
	}
	pcap_close(&reader);
	return n;
}

static double once(int prog, unsigned int count)
{
	double sum = 0;

	for (unsigned int i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frames[i].bytes,
			    .data_size_in = frames[i].len, .repeat = REPEAT);

		if (bpf_prog_test_run_opts(prog, &opts) || opts.retval != 2 /* XDP_PASS */)
			die("test run");
		sum += opts.duration;
	}
	return sum / count;
}

static int load_pass(void)
{
	const struct bpf_insn insns[] = {
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 2 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "pass", "GPL", insns, 2, NULL);
}

static int load_capture(struct capture_bpf *skel)
{
	char why[FILTER_WHY_LEN] = "";

	bpf_program__set_autoload(skel->progs.saluki_tc_ingress, false);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress, false);
	bpf_map__set_max_entries(skel->maps.saluki_counters, libbpf_num_possible_cpus());
	skel->rodata->filtering = 1;
	if (filter_load(skel->skeleton, &filter, why, sizeof(why)))
		die(*why ? why : "load");
	return bpf_program__fd(skel->progs.saluki_xdp);
}

int main(int argc, char **argv)
{
	double best[2] = { 1e9, 1e9 };
	char why[FILTER_WHY_LEN];
	struct capture_bpf *skel;
	int progs[2];
	unsigned int count;

	if (argc != 3)
		return 2;
	count = read_frames(argv[1]);
	if (count == 0 || filter_load_init())
		die("no frames");
	if (filter_compile(&filter, argv[2], 1, why, sizeof(why)))
		die(why);
	skel = capture_bpf__open();
	if (!skel)
		die("open");
	progs[0] = load_capture(skel);
	progs[1] = load_pass();
	if (progs[1] < 0)
		die("load");
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 2; i++) {
			double ns = once(progs[i], count);

			best[i] = ns < best[i] ? ns : best[i];
		}
	}
	printf("%.1f %.1f\n", best[0], best[1]);
	capture_bpf__destroy(skel);
	return 0;
}
