// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, into the kernel. In: a program that libbpf is about to load, with calls and maps
 * resolved. Out: the same program with the translated filter at its end, and a jump to it in the
 * place that filter_place.h marks. The information about functions and lines is moved accordingly.
 * Always holds: no other instruction changes.
 */
#include "filter_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/filter_place.h>

#include "agent/programs/insert.h"
#include "agent/programs/insn.h"
#include "filter_bpf.h"

/* The largest verifier log. Unwritten pages take no memory. */
#define LOG_LEN (16 << 20)

/* The place of a filter in a program. */
struct place {
	enum filter_hook hook;
	uint32_t at;	/* becomes the jump to the filter */
	uint32_t start; /* the filter's begin, after the function with `at` */
	uint32_t len;
	int16_t stack; /* the end of its stack, from the frame pointer */
};

/* libbpf's callback has no argument for us, so there is one load at a time. */
static struct {
	const struct filter *filter; /* NULL: none */
	struct filter_bpf body;
	struct place place; /* of the last loaded program */
	char *why;
	size_t why_len;
} loading;

/* ---- where it goes --------------------------------------------------------------------------- */

/* The function with `at` ends where the next one begins, which is some call's target. */
static uint32_t function_end(const struct bpf_insn *insns, uint32_t count, uint32_t at)
{
	uint32_t end = count;

	for (uint32_t i = 0; i < count; i++) {
		int64_t target = insn_target(&insns[i], i);

		if (insn_is_call(&insns[i]) && target > at && target < end)
			end = target;
	}
	return end;
}

static bool is_number(const struct bpf_insn *insn)
{
	return insn->code == (BPF_ALU64 | BPF_MOV | BPF_K) &&
	       (insn->imm == FILTER_PLACE_XDP || insn->imm == FILTER_PLACE_SKB);
}

/* Whether there is exactly one place: clang may duplicate instructions, and a second place would
 * accept all frames. */
static bool find_place(const struct bpf_insn *insns, uint32_t count, struct place *p)
{
	const struct bpf_insn *store;
	uint32_t at = 0, found = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!is_number(&insns[i]))
			continue;
		at = i;
		found++;
	}
	if (found != 1 || at == 0)
		return false;
	store = &insns[at - 1];
	if (store->code != (BPF_STX | BPF_MEM | BPF_DW) || store->dst_reg != BPF_REG_10 ||
	    store->off > -FILTER_STACK)
		return false;
	p->hook = insns[at].imm == FILTER_PLACE_XDP ? FILTER_XDP : FILTER_SKB;
	p->at = at;
	p->start = function_end(insns, count, at);
	p->stack = store->off + FILTER_STACK;
	return true;
}

/* ---- putting it there ------------------------------------------------------------------------ */

static int put_jump(struct bpf_insn *insns, uint32_t from, uint32_t to)
{
	int64_t off = (int64_t)to - from - 1;

	insns[from] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = off };
	return off == (int16_t)off ? 0 : -E2BIG;
}

/* Inserts after the function, so that only these jumps cross the filter. */
static int put_insns(struct bpf_program *prog, struct bpf_prog_load_opts *opts,
		     const struct place *p)
{
	const struct insert body = { p->start, loading.body.insns, p->len, false };
	size_t count = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = insert_copy(bpf_program__insns(prog), &count, &body, 1);
	int err = insns ? put_jump(insns, p->at, p->start) : -ENOMEM;

	for (uint32_t i = p->start; !err && i < p->start + p->len; i++)
		if (insns[i].code == (BPF_JMP | BPF_EXIT))
			err = put_jump(insns, i, p->at + 1);
	err = err ?: insert_done(prog, opts, insns, count, &body, 1);
	free(insns);
	return err;
}

static int put_filter(struct bpf_program *prog, struct bpf_prog_load_opts *opts, struct place p)
{
	int err = filter_translate(&loading.body, loading.filter, p.hook, p.stack, loading.why,
				   loading.why_len);

	if (err)
		return err;
	p.len = loading.body.len;
	loading.place = p;
	err = put_insns(prog, opts, &p);
	if (err == -E2BIG)
		snprintf(loading.why, loading.why_len,
			 "the filter's %u instructions are too many to jump over: make it shorter",
			 loading.filter->len);
	return err;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct place p;

	(void)cookie;
	if (!loading.filter)
		return 0;
	filter_bpf_free(&loading.body);
	if (!find_place(bpf_program__insns(prog), bpf_program__insn_cnt(prog), &p)) {
		snprintf(loading.why, loading.why_len,
			 "%s has no place for a filter: clang has made something else of "
			 "bpf/filter.h",
			 bpf_program__name(prog));
		return -EINVAL;
	}
	return put_filter(prog, opts, p);
}

int filter_load_init(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	static bool done;
	int xdp, tc;

	if (done)
		return 0;
	xdp = libbpf_register_prog_handler("xdp", BPF_PROG_TYPE_XDP, BPF_XDP, &opts);
	tc = libbpf_register_prog_handler("tc", BPF_PROG_TYPE_SCHED_CLS, 0, &opts);
	done = xdp >= 0 && tc >= 0;
	return xdp < 0 ? xdp : tc < 0 ? tc : 0;
}

/* ---- what the verifier says of it ------------------------------------------------------------ */

/* Terminates the text at `end` and returns its last line, or NULL. */
static char *line_before(char *log, char *end)
{
	while (end > log && (end[-1] == '\n' || end[-1] == 0))
		*--end = 0;
	if (end == log)
		return NULL;
	while (end > log && end[-1] != '\n')
		end--;
	return end;
}

/* The verifier's last lines are the instruction, the reason, and statistics. */
static void explain(char *log, int err)
{
	const struct place *p = &loading.place;
	char *line = log + strlen(log), *said = "it is too complex for it";
	unsigned int at;
	int n;

	while ((line = line_before(log, line))) {
		n = 0;
		if (sscanf(line, "%u: (%n", &at, &n) == 1 && n)
			break;
		if (strncmp(line, "processed ", 10) && strncmp(line, "-- ", 3))
			said = line;
	}
	if (line && at >= p->start && at < p->start + p->len)
		snprintf(
			loading.why, loading.why_len,
			"this kernel's verifier does not take instruction (%03u) of the filter, as "
			"'tcpdump -d' counts (%.200s): make the part of it shorter",
			loading.body.from[at - p->start], said);
	else if (err == -E2BIG)
		snprintf(loading.why, loading.why_len,
			 "the filter's %u instructions are too much for this kernel's verifier: "
			 "make it shorter",
			 loading.filter->len);
}

int filter_load(struct bpf_object_skeleton *s, const struct filter *f, char *why, size_t why_len)
{
	char *log = f && f->len ? malloc(LOG_LEN) : NULL;
	struct bpf_program *prog;
	int err;

	if (why_len)
		*why = 0;
	if (f && f->len) {
		loading.filter = f;
		loading.why = why;
		loading.why_len = why_len;
	}
	if (log)
		*log = 0;
	bpf_object__for_each_program(prog, *s->obj) if (log && bpf_program__autoload(prog))
		bpf_program__set_log_buf(prog, log, LOG_LEN);
	err = bpf_object__load_skeleton(s);
	if (err && log && *log && !*why)
		explain(log, err);
	filter_bpf_free(&loading.body);
	memset(&loading, 0, sizeof(loading));
	free(log);
	return err;
}
