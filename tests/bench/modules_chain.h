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

#include "agent/rings/ring.h"
#include "modules_cost.h"

#define CHAIN_RING (1 << 16)
#define CHAIN_RUNNER "build/bpf/modules.bpf.o"

/* What a module is shown. */
struct chain_grant {
	uint32_t shown, payload;
};

/* What stands behind the feed. */
struct chain_capture {
	struct bpf_object *object;
	int program;
};
/* That of all captures. */
extern struct ring chain_ring;

/* And what stands in its table. */
struct chain {
	struct chain_capture *capture; /* NULL: the chain ends with the feed */
	struct bpf_object *runner, *modules[SALUKI_MODULES_MAX];
	int programs[SALUKI_SLOTS]; /* 0: none */
	struct saluki_slot_table table;
};

/* What feeds all chains with the same frames. */
void chain_feed(const struct feed_frame *frames, uint32_t count);

/* All that are opened behind the first have its maps. */
struct chain_capture chain_capture(const char *path);
/* `runner`: an object; NULL: the chain ends in front of it. `grant`: of a runner that is a module
 * itself. */
void chain_open(struct chain *c, struct chain_capture *capture, const char *runner,
		const struct chain_grant *grant);
/* Behind CHAIN_RUNNER. `module`: an object that was linked with its shim. `inlined`: the chain that
 * it is compared with, and shares its maps with; NULL: none. */
void chain_add(struct chain *c, int slot, const char *module, const struct chain_grant *grant,
	       const struct chain *inlined);
/* What is fed from now on, from the first frame. */
void chain_choose(const struct chain *c);
/* Feeds the next `count` frames. */
void chain_run(uint32_t count);
/* How many frames a slot's module has seen. */
uint64_t chain_seen(const struct chain *c, int slot);

void chain_die(const char *what) __attribute__((noreturn));

#endif
