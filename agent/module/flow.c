// SPDX-License-Identifier: GPL-2.0
/* Flow: see flow.h. */
#include "flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/programs/insn.h"
#include "flow_state.h"
#include "flow_step.h"

#define MEMORY_MAX (64 << 20)
#define STEPS_MAX 1000000 /* Saluki's modules need some thousand */

struct flow {
	const struct bpf_insn *insns;
	size_t count;
	struct flow_maps maps;
	bool *targets; /* targets of jumps, where paths meet */
	unsigned int depth;
	size_t owners[FLOW_FRAMES]; /* functions of the frames, */
	uint64_t *zeros;	    /* and the slots where they need zeros */
	size_t steps, memory;
	size_t at; /* the forbidden instruction, */
	size_t of; /* and the first one of its function */
	const char *why;
};

/* The walk through one call of a function. */
struct walk {
	struct flow *flow;
	struct flow_state **met; /* possible states before each target */
	size_t *todo, todo_count;
	bool *is_todo;
	struct flow_state *end; /* possible states at its return; NULL: none yet */
};

/* ---- ways ------------------------------------------------------------------------------------ */

/* Returns a jump's target; `count` if it is outside the program. */
static size_t target(const struct flow *f, size_t n)
{
	int64_t to = insn_target(&f->insns[n], n);

	return to >= 0 && to < (int64_t)f->count ? (size_t)to : f->count;
}

static void find_targets(struct flow *f)
{
	for (size_t n = 0; n < f->count; n += insn_is_wide(&f->insns[n]) ? 2 : 1)
		if (insn_is_jump(&f->insns[n]) && target(f, n) < f->count)
			f->targets[target(f, n)] = true;
}

/* ---- a function ------------------------------------------------------------------------------ */

static bool wrong(struct flow *f, size_t at, const char *why)
{
	if (!f->why) {
		f->at = at;
		f->of = f->owners[f->depth];
		f->why = why;
	}
	return false;
}

static bool keep(struct flow_state **at, const struct flow_state *s, size_t *memory, bool *more)
{
	if (*at) {
		*more = flow_state_join(*at, s);
		return true;
	}
	*memory += flow_state_size(s);
	*at = malloc(flow_state_size(s));
	*more = *at != NULL;
	if (*at)
		flow_state_copy(*at, s);
	return *more;
}

/* A path reaches a target in this state. */
static bool meet(struct walk *w, size_t n, const struct flow_state *s)
{
	bool more;

	if (n >= w->flow->count)
		return wrong(w->flow, n, "it jumps out of its program");
	if (!keep(&w->met[n], s, &w->flow->memory, &more))
		return wrong(w->flow, n, strerror(ENOMEM));
	if (more && !w->is_todo[n]) {
		w->is_todo[n] = true;
		w->todo[w->todo_count++] = n;
	}
	return true;
}

/* Returns the slots that save registers around a helper's call. From Linux 6.12 on the verifier
 * removes such code (bpf_fastcall) if it finds no other use of the slot. It misses helpers and
 * functions that get the slot's address, and jumps to the call. Writing zeros is another use. */
static uint64_t saved(const struct flow *f, size_t n)
{
	uint64_t slots = 0;

	for (size_t by = 1; by <= n && n + by < f->count; by++) {
		const struct bpf_insn *to = &f->insns[n - by], *from = &f->insns[n + by];

		if (to->code != (BPF_STX | BPF_MEM | BPF_DW) || to->dst_reg != BPF_REG_10 ||
		    from->code != (BPF_LDX | BPF_MEM | BPF_DW) || from->src_reg != BPF_REG_10 ||
		    from->dst_reg != to->src_reg || from->off != to->off)
			break;
		if (to->off >= -FLOW_STACK_LEN && to->off < 0)
			slots |= 1ULL << (FLOW_STACK_LEN + to->off) / 8;
	}
	return slots;
}

static void note_zeros(struct flow *f, struct flow_state *s)
{
	for (unsigned int i = 0; i <= s->frame; i++)
		f->zeros[f->owners[i]] |= s->unwritten[i];
	memset(s->unwritten, 0, sizeof(s->unwritten));
}

static bool run(struct flow *f, size_t first, struct flow_state *s);

/* At the return, the caller's registers have their old values. */
static bool call(struct flow *f, size_t n, struct flow_state *s)
{
	struct flow_state inner;

	if (s->frame + 1 == FLOW_FRAMES)
		return wrong(f, n, "its functions call each other too deep");
	flow_state_copy(&inner, s);
	inner.frame++;
	memset(inner.stack[inner.frame], 0, sizeof(inner.stack[0]));
	memset(&inner.registers[BPF_REG_6], 0, 4 * sizeof(inner.registers[0]));
	inner.registers[BPF_REG_0] = (struct flow_value){ 0 };
	inner.registers[BPF_REG_10] =
		(struct flow_value){ .may = FLOW_STACK, .frame = inner.frame };
	if (!run(f, target(f, n), &inner))
		return false;
	f->depth = s->frame;
	memcpy(s->stack, inner.stack, (s->frame + 1) * sizeof(s->stack[0]));
	memset(s->registers, 0, 6 * sizeof(s->registers[0]));
	s->registers[BPF_REG_0] = inner.registers[BPF_REG_0];
	return true;
}

/* Walks one instruction. `*n`: set to the next one, or to `f->count` if the path ends. */
static bool step(struct walk *w, size_t *n, struct flow_state *s)
{
	struct flow *f = w->flow;
	const struct bpf_insn *i = &f->insns[*n];
	struct flow_state branch;
	const char *why;
	bool more;

	if (i->code == (BPF_JMP | BPF_EXIT)) {
		if (!s->frame && s->registers[BPF_REG_0].may & FLOW_ADDRESS)
			return wrong(f, *n, "it returns an address");
		*n = f->count;
		return keep(&w->end, s, &f->memory, &more) || wrong(f, *n, strerror(ENOMEM));
	}
	if (insn_is_call(i))
		return call(f, (*n)++, s);
	why = flow_step(s, i, &f->maps);
	if (why)
		return wrong(f, *n, why);
	if (i->code == (BPF_JMP | BPF_CALL))
		s->unwritten[s->frame] |= saved(f, *n);
	note_zeros(f, s);
	if (insn_is_jump(i)) {
		flow_state_copy(&branch, s);
		flow_branch(&branch, i, true);
		if (!meet(w, target(f, *n), &branch))
			return false;
		flow_branch(s, i, false);
		if (BPF_OP(i->code) == BPF_JA) {
			*n = f->count;
			return true;
		}
	}
	*n += insn_is_wide(i) ? 2 : 1;
	return *n < f->count || wrong(f, *n, "it runs out of its program");
}

/* Walks from one target to the next, and all targets that are found on the way. */
static bool go(struct walk *w, size_t n, struct flow_state *s)
{
	struct flow *f = w->flow;

	do {
		f->steps += 1 + s->frame;
		if (f->steps > STEPS_MAX || f->memory > MEMORY_MAX)
			return wrong(f, n, "there are too many ways through it");
		if (!step(w, &n, s))
			return false;
	} while (n < f->count && !f->targets[n]);
	return n == f->count || meet(w, n, s);
}

static bool go_all(struct walk *w)
{
	struct flow_state s;

	while (w->todo_count) {
		size_t n = w->todo[--w->todo_count];

		w->is_todo[n] = false;
		flow_state_copy(&s, w->met[n]);
		if (!go(w, n, &s))
			return false;
	}
	return w->end || wrong(w->flow, w->flow->owners[w->flow->depth], "it never ends");
}

/* Walks the function that begins at `first`, from its possible states at entry to those at
 * return. */
static bool run(struct flow *f, size_t first, struct flow_state *s)
{
	size_t memory = f->memory;
	struct walk w = { .flow = f,
			  .met = calloc(f->count, sizeof(*w.met)),
			  .todo = calloc(f->count, sizeof(*w.todo)),
			  .is_todo = calloc(f->count, sizeof(*w.is_todo)) };
	bool ok = w.met && w.todo && w.is_todo;

	f->steps += f->count / 64; /* the cost of a join */
	f->depth = s->frame;
	f->owners[f->depth] = first;
	ok = ok ? meet(&w, first, s) && go_all(&w) : wrong(f, first, strerror(ENOMEM));
	if (ok)
		flow_state_copy(s, w.end);
	for (size_t n = 0; w.met && n < f->count; n++)
		free(w.met[n]);
	f->memory = memory;
	free(w.end);
	free(w.met);
	free(w.todo);
	free(w.is_todo);
	return ok;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Numbers are the author's, without the shim. */
static void say(const struct flow *f, size_t shim, char why[FLOW_WHY_LEN])
{
	if (f->of)
		snprintf(why, FLOW_WHY_LEN, "%s (instruction %zu of a function that it calls)",
			 f->why, f->at - f->of);
	else
		snprintf(why, FLOW_WHY_LEN, "%s (instruction %zu)", f->why,
			 f->at > shim ? f->at - shim : 0);
}

int flow_check(const struct bpf_insn *insns, size_t count, size_t shim,
	       const struct flow_maps *maps, uint64_t *zeros, char why[FLOW_WHY_LEN])
{
	struct flow f = { .insns = insns, .count = count, .maps = *maps, .zeros = zeros };
	struct flow_state *s = calloc(1, sizeof(*s));
	bool ok;

	f.targets = calloc(count, sizeof(*f.targets));
	ok = (s && f.targets) || wrong(&f, 0, strerror(ENOMEM));
	if (ok) {
		find_targets(&f);
		s->registers[BPF_REG_1] =
			(struct flow_value){ .may = FLOW_MEMORY, .span = FLOW_UNKNOWN };
		s->registers[BPF_REG_10] = (struct flow_value){ .may = FLOW_STACK };
		ok = run(&f, 0, s);
	}
	if (!ok)
		say(&f, shim, why);
	free(f.targets);
	free(s);
	return ok ? 0 : -EPERM;
}
