// SPDX-License-Identifier: GPL-2.0
/*
 * generate IF FILE RATE SECONDS [number|turns]: sends an Ethernet capture's frames from an
 * interface, inside the kernel, over and over, at RATE frames/s (0: as fast as possible). "number":
 * each frame has its number in it. "turns": sends for a millisecond, then sleeps. Prints one line:
 * frames, nanoseconds from the first to the last, nanoseconds of CPU, idle runs of the program, and
 * late frames for which the queue had no room.
 *
 * generate --attach pass|drop|discard|lose IF: attaches the other programs of generate.bpf.c,
 * prints "ready", and stays until standard input ends.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "common/pcap_read.h"
#include "generate.skel.h"
#include "tests/bench/generate.h"

#define FRAMES_MAX (16 << 20) /* bytes */
#define TURN_NS 1000000
#define QUEUE 4096 /* frames that a card holds */

static void die(const char *what)
{
	fprintf(stderr, "generate: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads the frames into one block of memory. Returns the bytes used. */
static uint32_t read_frames(const char *path, uint8_t *memory)
{
	struct pcap_reader reader;
	struct pcap_frame f;
	uint32_t len = 0;

	if (pcap_open(&reader, open(path, O_RDONLY | O_CLOEXEC)))
		die(path);
	while (pcap_next(&reader, &f) == 1 && len + GENERATE_STRIDE(f.cap_len) <= FRAMES_MAX) {
		struct generate_frame *to = (void *)(memory + len);

		if (f.cap_len == 0 || f.cap_len > GENERATE_FRAME_MAX)
			continue;
		to->len = f.cap_len;
		memcpy(to->bytes, f.data, f.cap_len);
		len += GENERATE_STRIDE(f.cap_len);
	}
	pcap_close(&reader);
	if (len == 0)
		die("no frames");
	return len;
}

static void on_alarm(int signo)
{
	(void)signo; /* the test run ends with EINTR */
}

/* Runs the program `times` times, or until a signal. */
static void run(int prog, int ifindex, int times)
{
	static uint8_t largest[GENERATE_FRAME_MAX];
	struct xdp_md ctx = { .data_end = sizeof(largest), .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = largest, .data_size_in = sizeof(largest),
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = times,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = GENERATE_BATCH);

	if (bpf_prog_test_run_opts(prog, &opts) && errno != EINTR)
		die("bpf_prog_test_run");
}

static void run_for(int prog, int ifindex, double seconds)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval t = { .it_value = { (long)seconds, (seconds - (long)seconds) * 1e6 } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	run(prog, ifindex, INT32_MAX);
}

/* Each test run of an unattached program makes the kernel rebuild its XDP dispatcher, which takes
 * 24 ms. So the program is attached in a separate network namespace, which ends with the
 * process. */
static void attach_aside(int prog)
{
	int ours = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (ours < 0 || unshare(CLONE_NEWNET) ||
	    bpf_xdp_attach(if_nametoindex("lo"), prog, XDP_FLAGS_SKB_MODE, NULL) ||
	    open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) < 0 ||
	    setns(ours, CLONE_NEWNET) || close(ours))
		die("a separate network namespace");
}

/* Sleeps until the next turn that is not over yet, and returns it. */
static uint64_t next_turn(uint64_t begin, uint64_t turn)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct timespec t;

	turn += TURN_NS;
	if (now >= turn)
		return now - (now - begin) % TURN_NS;
	t.tv_sec = turn / 1000000000;
	t.tv_nsec = turn % 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	return turn;
}

/* Sends in turns, and sleeps in between, so that programs on this CPU have the rest of it. Frames
 * left over from a turn wait, as in a card's queue. Returns the number of frames without room
 * there. */
static uint64_t run_in_turns(int prog, int ifindex, double rate, double seconds)
{
	uint64_t begin, turn, due, done = 0, late = 0;

	attach_aside(prog);
	begin = turn = clock_ns(CLOCK_MONOTONIC);
	while ((turn = next_turn(begin, turn)) < begin + seconds * 1e9) {
		due = (turn - begin) / 1e9 * rate - done - late;
		if (due > QUEUE) {
			late += due - QUEUE;
			due = QUEUE;
		}
		due -= due % GENERATE_BATCH;
		if (due)
			run(prog, ifindex, due);
		done += due;
	}
	return late;
}

static int generate(const char *interface, const char *path, double rate, double seconds,
		    const char *how)
{
	struct generate_bpf *skel = generate_bpf__open();
	uint8_t *memory =
		calloc(1, FRAMES_MAX + sizeof(struct generate_frame) + GENERATE_FRAME_MAX);
	uint32_t len, room = 8, zero = 0;
	bool turns = !strcmp(how, "turns");
	uint64_t cpu_ns, late = 0;

	if (!skel || !memory)
		die("open");
	len = read_frames(path, memory);
	while (room < len)
		room *= 2;
	skel->rodata->frames_len = len;
	skel->rodata->frames_mask = room - 1;
	skel->rodata->numbered = !strcmp(how, "number");
	skel->rodata->interval_ps = rate > 0 && !turns ? 1e12 / rate : 0;
	bpf_map__set_value_size(skel->maps.frame_map,
				room + sizeof(struct generate_frame) + GENERATE_FRAME_MAX);
	if (generate_bpf__load(skel))
		die("load");
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.frame_map), &zero, memory, BPF_ANY))
		die("map");
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (turns)
		late = run_in_turns(bpf_program__fd(skel->progs.generate),
				    if_nametoindex(interface), rate, seconds);
	else
		run_for(bpf_program__fd(skel->progs.generate), if_nametoindex(interface), seconds);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	printf("%llu %llu %llu %llu %llu\n", (unsigned long long)skel->bss->sent,
	       (unsigned long long)(skel->bss->last_ns - skel->bss->first_ns),
	       (unsigned long long)cpu_ns, (unsigned long long)skel->bss->idle,
	       (unsigned long long)late);
	generate_bpf__destroy(skel);
	free(memory);
	return 0;
}

static int attach_tc(const struct bpf_program *program, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(program));

	return bpf_tc_hook_create(&hook) ?: bpf_tc_attach(&hook, &opts);
}

static int attach(const char *what, const char *interface)
{
	struct generate_bpf *skel = generate_bpf__open_and_load();
	int ifindex = if_nametoindex(interface);
	const struct bpf_program *program;
	char c;

	if (!skel)
		die("load");
	program = bpf_object__find_program_by_name(skel->obj, what);
	if (!program)
		die(what);
	if (bpf_program__type(program) == BPF_PROG_TYPE_SCHED_CLS
		    ? attach_tc(program, ifindex)
		    : !bpf_program__attach_xdp(program, ifindex))
		die(interface);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0; /* links and, with its namespace, the qdisc end with the process */
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--attach"))
		return attach(argv[2], argv[3]);
	if (argc == 5 || (argc == 6 && (!strcmp(argv[5], "number") || !strcmp(argv[5], "turns"))))
		return generate(argv[1], argv[2], atof(argv[3]), atof(argv[4]),
				argc == 6 ? argv[5] : "");
	fprintf(stderr, "Usage: generate IF FILE RATE SECONDS [number|turns]\n"
			"       generate --attach pass|drop|discard|lose IF\n");
	return 2;
}
