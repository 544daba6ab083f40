/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chain: programs one behind the other, as the agent puts them together, through which runs of
 * bpf_prog_test_run take many frames: feed.bpf.c, a capture, what runs modules (or is one), modules
 * in its slots. Whatever fails ends the program.
 */
#ifndef BENCH_MODULES_CHAIN_H
#define BENCH_MODULES_CHAIN_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include <saluki/slots.h>

#include "agent/source/ring.h"
#include "modules_cost.h"

#define CHAIN_RING (1 << 16)
#define CHAIN_RUNNER "build/bpf/modules.bpf.o"

/* What a module is shown. */
struct chain_grant {
	uint32_t shown, payload;
};

struct chain {
	struct bpf_object *capture, *runner, *modules[SALUKI_MODULES_MAX];
	int program; /* the first behind the feed; -1: none */
	struct saluki_slot_table table;
	struct ring ring;
};

/* What feeds all chains with the same frames. */
void chain_feed(const struct feed_frame *frames, uint32_t count);

/* `capture`, `runner`: objects; NULL: the chain ends in front of it. `grant`: of a runner that is a
 * module itself. */
void chain_open(struct chain *c, const char *capture, const char *runner,
		const struct chain_grant *grant);
/* Behind CHAIN_RUNNER. `module`: an object that was linked with its shim. */
void chain_add(struct chain *c, int slot, const char *module, const struct chain_grant *grant);
/* What is fed from now on, from the first frame. */
void chain_choose(const struct chain *c);
/* Feeds the next `count` frames. */
void chain_run(uint32_t count);
/* How many frames a slot's module has seen. */
uint64_t chain_seen(const struct chain *c, int slot);

void chain_die(const char *what) __attribute__((noreturn));

#endif
