/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chain: programs one after the other, combined as by the agent, through which bpf_prog_test_run
 * sends many frames: feed.bpf.c, a capture, the program that runs modules (or is one), and modules
 * in its slots. Any failure ends the program.
 */
#ifndef BENCH_MODULES_CHAIN_H
#define BENCH_MODULES_CHAIN_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include <saluki/slots.h>

#include "agent/rings/ring.h"
#include "modules_cost.h"

#define CHAIN_RING (1 << 16)
#define CHAIN_RUNNER "build/bpf/modules.bpf.o"

/* The fields that a module sees. */
struct chain_grant {
	uint32_t shown, payload;
};

/* The capture after the feed. */
struct chain_capture {
	struct bpf_object *object; /* NULL: empty */
	int program;
};
/* Shared by all captures. */
extern struct ring chain_ring;

/* And its table's entries. */
struct chain {
	struct chain_capture *capture; /* NULL: the chain ends with the feed */
	struct bpf_object *runner, *modules[SALUKI_MODULES_MAX];
	int programs[SALUKI_SLOTS]; /* 0: none */
	struct saluki_slot_table table;
};

/* Sets the frames for all chains. */
void chain_feed(const struct feed_frame *frames, uint32_t count);

/* All captures opened after the first share its maps. */
struct chain_capture chain_capture(const char *path);
/* In the place of a capture: a program that passes each frame. */
struct chain_capture chain_empty(void);
/* `runner`: an object; NULL: the chain ends before it. `grant`: for a runner that is a module
 * itself. */
void chain_open(struct chain *c, struct chain_capture *capture, const char *runner,
		const struct chain_grant *grant);
/* For CHAIN_RUNNER. `module`: an object linked with its shim. `inlined`: the chain to compare with,
 * which shares its maps; NULL: none. */
void chain_add(struct chain *c, int slot, const char *module, const struct chain_grant *grant,
	       const struct chain *inlined);
/* Chooses the chain to feed, from the first frame on. */
void chain_choose(const struct chain *c);
/* Feeds the next `count` frames. */
void chain_run(uint32_t count);
/* Returns the number of frames seen by a slot's module. */
uint64_t chain_seen(const struct chain *c, int slot);

void chain_die(const char *what) __attribute__((noreturn));

#endif
