// SPDX-License-Identifier: GPL-2.0
/*
 * modules_cost FILE ROUNDS NAME...: the modules' cost per frame, in nanoseconds of CPU time. All
 * frames of an Ethernet capture go through each of these chains (modules_chain.h), one after the
 * other, ROUNDS times. All share one ring, and an inlined module shares the protected one's maps:
 *
 *     feed        the feeding of frames alone
 *     empty       a program that passes each frame
 *     slotless    a capture without support for modules
 *     capture     the capture without a module in its table; its ring is emptied unread
 *     NAME.plain      the same, and user space makes views of the copies in the ring and calls the
 *                     module, compiled for the host
 *     NAME.inlined    the capture, with the module in place of the module runner
 *     NAME.protected  the capture, the module runner, and the module alone in a slot
 *     all.protected   all modules, each in its slot
 *
 * Prints a line for each: its name and cost.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/module.h>

#include "common/monotonic.h"
#include "common/pcap_read.h"
#include "modules_chain.h"
#include "plain_view.h"

#define BATCH 256 /* frames between two emptyings of the ring */
#define BATCHES_MAX 192
#define NAMES_MAX SALUKI_MODULES_MAX

struct way {
	char name[48];
	struct chain chain;
	int (*plain)(struct frame_view *v);
	struct chain_grant grant;
	uint64_t best_ns[BATCHES_MAX];
};

static struct feed_frame frames[BATCH * BATCHES_MAX];
static struct way ways[5 + 3 * NAMES_MAX];
static unsigned int ways_len;
static struct chain_capture empty, capture, slotless;

/* The fields each module needs; others see none. */
static const struct {
	const char *name;
	struct chain_grant grant;
} grants[] = {
	{ "rtt", { VIEW_IP | VIEW_PORTS, 0 } },
	{ "trajectory", { VIEW_LABEL | VIEW_IP | VIEW_PORTS, 0 } },
	{ "worm", { VIEW_IP | VIEW_PORTS | VIEW_PAYLOAD, 64 } },
};

static const struct chain_grant *grant_of(const char *name)
{
	static const struct chain_grant nothing;

	for (unsigned int i = 0; i < sizeof(grants) / sizeof(grants[0]); i++)
		if (!strcmp(grants[i].name, name))
			return &grants[i].grant;
	return &nothing;
}

/* Reads whole batches of frames. */
static uint32_t read_frames(const char *path)
{
	struct pcap_reader reader;
	struct pcap_frame f;
	uint32_t n = 0;

	if (pcap_open(&reader, open(path, O_RDONLY | O_CLOEXEC)))
		chain_die(path);
	while (n < BATCH * BATCHES_MAX && pcap_next(&reader, &f) == 1) {
		if (f.cap_len < 14 || f.cap_len > 1514)
			continue;
		memcpy(frames[n].bytes, f.data, f.cap_len < FEED_BYTES ? f.cap_len : FEED_BYTES);
		frames[n++].len = f.cap_len;
	}
	pcap_close(&reader);
	if (n < BATCH)
		chain_die("too few frames");
	return n - n % BATCH;
}

static struct way *way(const char *name, const char *kind)
{
	struct way *w = &ways[ways_len++];

	snprintf(w->name, sizeof(w->name), "%s%s%s", name, *kind ? "." : "", kind);
	return w;
}

static const char *path_of(const char *name, const char *kind)
{
	static char path[128];

	snprintf(path, sizeof(path), "build/tests/bench/modules/%s.%s", name, kind);
	return path;
}

static void add_module(const char *name)
{
	const struct chain_grant *g = grant_of(name);
	struct way *w = way(name, "plain"), *inlined;
	void *library = dlopen(path_of(name, "plain.so"), RTLD_NOW | RTLD_LOCAL);

	if (!library || !(*(void **)&w->plain = dlsym(library, "module"))) {
		fprintf(stderr, "modules_cost: %s\n", dlerror());
		exit(1);
	}
	w->grant = *g;
	chain_open(&w->chain, &capture, NULL, NULL);
	inlined = way(name, "inlined");
	chain_open(&inlined->chain, &capture, path_of(name, "inlined.o"), g);
	w = way(name, "protected");
	chain_open(&w->chain, &capture, CHAIN_RUNNER, NULL);
	chain_add(&w->chain, 0, path_of(name, "protected.o"), g, &inlined->chain);
}

static void add_all(char **names, int names_len)
{
	struct way *w;

	empty = chain_empty();
	capture = chain_capture("build/bpf/capture.bpf.o");
	slotless = chain_capture("build/tests/bench/slotless.bpf.o");
	chain_open(&way("feed", "")->chain, NULL, NULL, NULL);
	chain_open(&way("empty", "")->chain, &empty, NULL, NULL);
	chain_open(&way("slotless", "")->chain, &slotless, NULL, NULL);
	chain_open(&way("capture", "")->chain, &capture, NULL, NULL);
	for (int i = 0; i < names_len; i++)
		add_module(names[i]);
	w = way("all", "protected");
	chain_open(&w->chain, &capture, CHAIN_RUNNER, NULL);
	for (int i = 0; i < names_len; i++)
		chain_add(&w->chain, i, path_of(names[i], "protected.o"), grant_of(names[i]), NULL);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static uint32_t read_ring(struct way *w)
{
	static struct frame_view v;
	const struct saluki_record *r;
	uint32_t n = 0;
	size_t len;

	for (; (r = ring_next(&chain_ring, &len)); n++) {
		plain_view(&v, r, w->grant.shown, w->grant.payload);
		v.event_len = 0;
		w->plain(&v);
	}
	ring_release(&chain_ring, chain_ring.next);
	return n;
}

static void skip_ring(void)
{
	chain_ring.next = chain_ring.produced = ring_produced(&chain_ring);
	ring_release(&chain_ring, chain_ring.next);
}

/* Runs one batch: in a tenth of a millisecond, other programs rarely interrupt. */
static void once(struct way *w, uint32_t count)
{
	uint64_t ns, *best = w->best_ns;
	uint32_t read = 0;

	chain_choose(&w->chain);
	for (uint32_t done = 0; done < count; done += BATCH, best++) {
		ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		chain_run(BATCH);
		if (w->plain)
			read += read_ring(w);
		else
			skip_ring();
		ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - ns;
		*best = !*best || ns < *best ? ns : *best;
	}
	if (w->plain && read != count)
		chain_die("the ring had not all frames");
}

/* Returns nanoseconds per frame: for each batch the best of all rounds. */
static double cost(const struct way *w, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count / BATCH; i++)
		sum += w->best_ns[i];
	return (double)sum / count;
}

/* Checks that each module in a slot saw each frame. */
static void check_seen(uint32_t count, int rounds)
{
	for (unsigned int i = 0; i < ways_len; i++)
		for (int slot = 0; slot < SALUKI_MODULES_MAX; slot++)
			if (ways[i].chain.modules[slot] &&
			    chain_seen(&ways[i].chain, slot) != (uint64_t)count * rounds) {
				fprintf(stderr, "modules_cost: %s: not all frames were seen\n",
					ways[i].name);
				exit(1);
			}
}

int main(int argc, char **argv)
{
	int rounds;
	uint32_t count;

	if (argc < 3 || argc > 3 + NAMES_MAX)
		return 2;
	count = read_frames(argv[1]);
	rounds = atoi(argv[2]);
	chain_feed(frames, count);
	add_all(argv + 3, argc - 3);
	for (int round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < ways_len; i++) /* each is first in turn */
			once(&ways[(i + round) % ways_len], count);
	check_seen(count, rounds);
	for (unsigned int i = 0; i < ways_len; i++)
		printf("%s %.2f\n", ways[i].name, cost(&ways[i], count));
	return fflush(stdout) ? 1 : 0;
}
