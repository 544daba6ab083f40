// SPDX-License-Identifier: GPL-2.0
/* links: merge/output/trace.o pcapng/receptions.o pcapng/blocks.o merge/output/ledger.o
 * pcapng/block.o common/log.o
 */
/*
 * Readers of a unified trace, with any file. Always holds: receptions are inside their block; a
 * ledger that was read and written again is the same.
 */
#include "common/log.h"
#include "fuzz.h"
#include "pcapng/build.h"
#include "merge/output/ledger.h"
#include "merge/output/trace.h"

static void comment(const struct pcapng_option *o)
{
	char text[LEDGER_TEXT_MAX];
	struct ledger a, b;

	if (!ledger_read(&a, (const char *)o->value, o->len))
		return;
	ledger_balance(&a);
	ledger_write(&a, text);
	CHECK(ledger_read(&b, text, strlen(text)) && !memcmp(&a, &b, sizeof(a)));
}

static int block(void *context, struct pcapng_block *b)
{
	struct pcapng_block copy = *b;
	struct trace_receptions all = trace_receptions(&copy);
	struct pcapng_option o;
	uint64_t *sum = context;

	for (uint32_t i = 0; i < all.count; i++)
		*sum += trace_reception(&all, i).off_ns;
	while (b->type == BLOCK_STATISTICS && pcapng_option(b, &o))
		if (o.code == OPT_COMMENT)
			comment(&o);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = fuzz_file(data, len);
	uint64_t sum = 0;
	char path[32];

	log_settings.fd = -1; /* no line */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace_read(path, block, &sum);
	close(fd);
	return 0;
}
