// SPDX-License-Identifier: GPL-2.0
/* links: pcapng/block.o */
/*
 * The merge's reader of pcapng blocks, with any bytes. Always holds: a block is inside the bytes,
 * and its frame and options inside the block; the same bytes, cut, give no other blocks.
 */
#include "fuzz.h"
#include "pcapng/block.h"

static void look(struct pcapng_block *b, const uint8_t *begin)
{
	struct pcapng_interface i;
	struct pcapng_option o;
	struct pcapng_block copy = *b;

	CHECK(b->options >= begin && b->options <= b->end && b->end == begin + b->len - 4);
	if (b->type == BLOCK_PACKET) {
		CHECK(b->frame >= begin && b->frame + b->kept <= b->options);
		fuzz_touch(b->frame, b->kept);
	}
	if (b->type == BLOCK_INTERFACE) {
		pcapng_interface(&copy, &i);
		CHECK(i.ticks && memchr(i.name, 0, sizeof(i.name)));
		pcapng_ns(b->ticks, i.ticks, i.offset_s);
	}
	while (pcapng_option(b, &o)) {
		CHECK(o.value + o.len <= b->end);
		fuzz_touch(o.value, o.len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len);
	bool swapped = false, before = false;
	struct pcapng_block b, cut;
	int64_t n;

	for (size_t at = 0; (n = pcapng_block(&b, copy + at, len - at, &swapped)) > 0; at += n) {
		CHECK(n == b.len && at + n <= len);
		CHECK(pcapng_block(&cut, copy + at, n - 1, &before) == 0);
		before = swapped;
		look(&b, copy + at);
	}
	fuzz_free(copy);
	return 0;
}
