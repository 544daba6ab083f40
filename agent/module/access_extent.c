// SPDX-License-Identifier: GPL-2.0
/* Access extent: see access_extent.h. */
#include "access_extent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/module.h>

#include "agent/programs/insn.h"

/* Ends of the field groups, and of each four words of the payload. */
#define PAYLOAD(n) (offsetof(struct frame_view, payload) + (n))
static const uint32_t ends[] = {
	offsetof(struct frame_view, addr),
	offsetof(struct frame_view, saddr),
	offsetof(struct frame_view, sport),
	offsetof(struct frame_view, label),
	offsetof(struct frame_view, event_len),
	PAYLOAD(0),
	PAYLOAD(32),
	PAYLOAD(64),
	PAYLOAD(96),
	offsetof(struct frame_view, mhz),
	offsetof(struct frame_view, ssid),
	sizeof(struct frame_view),
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* A program to load with another map as its view. */
struct trial {
	enum bpf_prog_type type;
	const struct bpf_prog_load_opts *opts;
	struct bpf_insn *insns;
	size_t count;
	int view_fd;
};

static void set_view(struct trial *t, int fd)
{
	for (size_t i = 0; i < t->count; i++)
		if (insn_is_wide(&t->insns[i]) && t->insns[i].src_reg == BPF_PSEUDO_MAP_FD &&
		    t->insns[i].imm == t->view_fd)
			t->insns[i].imm = fd;
	t->view_fd = fd;
}

/* Whether the verifier accepts the program with a view of this size. */
static bool is_within(struct trial *t, uint32_t bytes)
{
	int view_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, NULL, sizeof(uint32_t), bytes, 1,
				     NULL),
	    fd = -1;
	struct bpf_prog_load_opts opts = *t->opts;

	opts.log_level = 0;
	opts.log_buf = NULL;
	opts.log_size = 0;
	if (view_fd >= 0) {
		set_view(t, view_fd);
		fd = bpf_prog_load(t->type, NULL, "GPL", t->insns, t->count, &opts);
		close(view_fd);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

uint32_t access_extent_of(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts,
			  int view_fd)
{
	struct trial t = { bpf_program__type(prog), opts, NULL, bpf_program__insn_cnt(prog),
			   view_fd };
	size_t first = 0, last = ENDS - 1; /* the extent is between these */

	t.insns = malloc(t.count * sizeof(*t.insns));
	if (!t.insns)
		return ends[last];
	memcpy(t.insns, bpf_program__insns(prog), t.count * sizeof(*t.insns));
	while (first < last) {
		size_t middle = (first + last) / 2;

		if (is_within(&t, ends[middle]))
			last = middle;
		else
			first = middle + 1;
	}
	free(t.insns);
	return ends[last];
}
