// SPDX-License-Identifier: GPL-2.0
/* links: agent/filter/filter_bpf.o agent/filter/filter_check.o agent/filter/filter_code.o
 * agent/filter/filter_emit.o agent/filter/filter_flow.o agent/filter/filter_chain.o
 * agent/filter/filter_match.o agent/filter/filter_packet.o agent/filter/filter_slow.o */
/*
 * Filters as printed by `tcpdump -ddd`, after a frame; the first byte is the frame's length. Always
 * holds: a refused filter has a reason. An accepted one runs to an end on any frame and reads
 * nothing outside it. Its translation has no jump outside, and jumps back only to its own ends.
 */
#include <errno.h>

#include "agent/filter/filter_bpf.h"
#include "agent/filter/filter_packet.h"
#include "fuzz.h"

static struct filter filter;

static bool is_end(const struct bpf_insn *x)
{
	return x->code == (BPF_JMP | BPF_EXIT) || (x->code == (BPF_JMP | BPF_JA) && x->off < 0);
}

static void translate(enum filter_hook hook)
{
	struct filter_bpf b;
	char why[FILTER_WHY_LEN] = "";
	unsigned int exits = 0;

	if (filter_translate(&b, &filter, hook, 0, why, sizeof(why))) {
		CHECK(*why);
		return;
	}
	for (uint32_t i = 0; i < b.len; i++) {
		const struct bpf_insn *x = &b.insns[i];
		bool jumps = BPF_CLASS(x->code) == BPF_JMP || BPF_CLASS(x->code) == BPF_JMP32;

		exits += x->code == (BPF_JMP | BPF_EXIT);
		if (!jumps || x->code == (BPF_JMP | BPF_CALL) || x->code == (BPF_JMP | BPF_EXIT))
			continue;
		CHECK(i + 1 + x->off < b.len);
		CHECK(x->off >= 0 || is_end(&b.insns[i + 1 + x->off]));
	}
	CHECK(exits == 1);
	CHECK(b.insns[b.len - 1].code == (BPF_JMP | BPF_EXIT) ||
	      b.insns[b.len - 1].code == (BPF_JMP | BPF_JA));
	filter_bpf_free(&b);
}

/* For a packet socket: the output is valid classic BPF. */
static void rewrite(enum filter_tags tags, enum direction direction)
{
	static struct sock_filter out[FILTER_PACKET_MAX];
	const struct filter_packet how = {
		.tags = tags,
		.direction = direction,
		.accept = 192,
		.headers = tags != FILTER_TAGS_NONE,
	};
	int len = filter_packet(out, &filter, &how);

	CHECK(len == -E2BIG || (len > 0 && len <= FILTER_PACKET_MAX));
	for (int i = 0; i < len; i++) {
		const struct sock_filter *s = &out[i];

		if (BPF_CLASS(s->code) != BPF_JMP)
			continue;
		if (BPF_OP(s->code) == BPF_JA)
			CHECK(s->k < (uint32_t)(len - i - 1));
		else
			CHECK(i + 1 + s->jt < len && i + 1 + s->jf < len);
	}
	CHECK(len < 0 || BPF_CLASS(out[len - 1].code) == BPF_RET);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[FILTER_WHY_LEN] = "";
	uint8_t *frame;
	size_t len;
	int err;

	if (size < 1)
		return 0;
	len = data[0] < size - 1 ? data[0] : size - 1;
	err = filter_parse_code(&filter, (const char *)data + 1 + len, size - 1 - len, why,
				sizeof(why));
	CHECK(!err || (err == -EINVAL && *why));
	if (err || filter_check(&filter, why, sizeof(why)))
		return 0;
	frame = malloc(len ? len : 1); /* so that sanitizers see a byte outside */
	memcpy(frame, data + 1, len);
	filter_match(&filter, frame, len, len + 4);
	free(frame);
	translate(FILTER_XDP);
	translate(FILTER_SKB);
	rewrite(FILTER_TAGS_NONE, DIRECTION_INOUT);
	rewrite(FILTER_TAGS_8100, DIRECTION_IN);
	rewrite(FILTER_TAGS_WITH_ID, DIRECTION_OUT);
	return 0;
}
