// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, into the kernel. In: a program as libbpf is about to load it, its calls and maps
 * resolved. Out: the same program, the subprogram with a number of filter_place.h in it replaced by
 * the translated filter, and what describes functions and lines moved with it. Always holds:
 * nothing else is changed.
 */
#include "filter_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/filter_place.h>

#include "filter_bpf.h"

/* What the verifier says on its longest way; memory only as far as it is written. */
#define LOG_LEN (16 << 20)

/* What is replaced in a program, and by how much. */
struct place {
	uint32_t start, end;
	uint32_t len; /* of what comes there */
};

/* libbpf calls us back without a word of our own, so there is one load at a time. */
static struct {
	const struct filter *filter; /* NULL: nothing to do */
	struct filter_bpf body;
	struct place place;	     /* in the program loaded last */
	void *func_info, *line_info; /* libbpf reads them until it is loaded */
	char *why;
	size_t why_len;
} loading;

/* ---- where it goes --------------------------------------------------------------------------- */

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* The subprogram that `at` is in: it begins where one is called, and ends where the next begins. */
static void bounds(const struct bpf_insn *insns, uint32_t count, uint32_t at, uint32_t *start,
		   uint32_t *end)
{
	*start = 0;
	*end = count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t target = i + 1 + insns[i].imm;

		if (!is_call(&insns[i]))
			continue;
		if (target <= at && target > *start)
			*start = target;
		if (target > at && target < *end)
			*end = target;
	}
}

/* Returns the number that was found, or 0 in a program without one. */
static int find_place(const struct bpf_insn *insns, uint32_t count, struct place *p)
{
	for (uint32_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_ALU64 | BPF_MOV | BPF_K) ||
		    (insns[i].imm != FILTER_PLACE_XDP && insns[i].imm != FILTER_PLACE_SKB))
			continue;
		bounds(insns, count, i, &p->start, &p->end);
		return insns[i].imm;
	}
	return 0;
}

/* ---- putting it there ------------------------------------------------------------------------ */

static uint32_t moved(const struct place *p, uint32_t at)
{
	return at < p->end ? at : at - (p->end - p->start) + p->len;
}

static int put_insns(struct bpf_program *prog, const struct place *p)
{
	const struct bpf_insn *old = bpf_program__insns(prog);
	uint32_t old_len = bpf_program__insn_cnt(prog), len = moved(p, old_len);
	struct bpf_insn *insns = malloc(len * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	for (uint32_t i = 0; i < old_len; i++) {
		uint32_t to = moved(p, i);

		if (i >= p->start && i < p->end)
			continue;
		insns[to] = old[i];
		if (is_call(&old[i]))
			insns[to].imm = moved(p, i + 1 + old[i].imm) - to - 1;
	}
	memcpy(insns + p->start, loading.body.insns, p->len * sizeof(*insns));
	err = bpf_program__set_insns(prog, insns, len);
	free(insns);
	return err;
}

/* Copies records that begin with the instruction they describe. Of what was replaced only the first
 * stays: the function has it, and the kernel wants a line at the beginning of each. Returns how
 * many; `*out` is NULL where there are none, and without memory. */
static uint32_t move_info(const struct place *p, const void *info, uint32_t count, uint32_t size,
			  void **out)
{
	uint32_t kept = 0;
	uint8_t *to = count ? malloc((size_t)count * size) : NULL;

	*out = to;
	for (uint32_t i = 0; to && i < count; i++) {
		const uint8_t *from = (const uint8_t *)info + (size_t)i * size;
		uint32_t at;

		memcpy(&at, from, sizeof(at));
		if (at > p->start && at < p->end)
			continue;
		at = moved(p, at);
		memcpy(to, from, size);
		memcpy(to, &at, sizeof(at));
		to += size;
		kept++;
	}
	return kept;
}

static void forget_program(void)
{
	free(loading.func_info);
	free(loading.line_info);
	loading.func_info = loading.line_info = NULL;
	filter_bpf_free(&loading.body);
}

static int put_filter(struct bpf_program *prog, struct bpf_prog_load_opts *opts, struct place p,
		      enum filter_hook hook)
{
	int err =
		filter_translate(&loading.body, loading.filter, hook, loading.why, loading.why_len);

	if (err)
		return err;
	p.len = loading.body.len;
	loading.place = p;
	err = put_insns(prog, &p);
	opts->func_info_cnt = move_info(&p, opts->func_info, opts->func_info_cnt,
					opts->func_info_rec_size, &loading.func_info);
	opts->line_info_cnt = move_info(&p, opts->line_info, opts->line_info_cnt,
					opts->line_info_rec_size, &loading.line_info);
	opts->func_info = loading.func_info;
	opts->line_info = loading.line_info;
	return err;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct place p = { 0 };
	int number;

	(void)cookie;
	if (!loading.filter)
		return 0;
	forget_program();
	number = find_place(bpf_program__insns(prog), bpf_program__insn_cnt(prog), &p);
	if (!number)
		return 0;
	return put_filter(prog, opts, p, number == FILTER_PLACE_XDP ? FILTER_XDP : FILTER_SKB);
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

/* The line in front of `end`, whose end is cut off there. Returns NULL without one. */
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

/* The verifier's last lines are the instruction, why not, and how much it went through. */
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
	forget_program();
	memset(&loading, 0, sizeof(loading));
	free(log);
	return err;
}
