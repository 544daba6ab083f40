// SPDX-License-Identifier: GPL-2.0
/* links: common/log.o common/monotonic.o merge/air/answer.o merge/air/damaged.o merge/air/match.o
 * merge/air/order.o merge/air/pool.o merge/air/retained.o merge/clock/anchor.o merge/clock/arrive.o
 * merge/clock/bridge.o merge/clock/bridges.o merge/clock/clock.o merge/clock/clocks.o
 * merge/clock/earliest.o merge/clock/epoch.o merge/clock/find.o merge/clock/level.o
 * merge/clock/own.o merge/clock/parts.o merge/clock/queue.o merge/clock/radios.o
 * merge/clock/references.o merge/clock/seek.o merge/clock/solve.o merge/clock/wanted.o
 * merge/frame/identity.o dissect/radiotap.o merge/frame/radiotap.o pcapng/blocks.o
 * merge/input/files.o merge/input/files_index.o merge/input/names.o pcapng/block.o
 * merge/input/left.o merge/input/pipe.o merge/input/sensors.o merge/input/take.o
 * merge/model/slice.o merge/sweep/merge.o wire/channel.o
 * merge/sweep/rehearse.o merge/output/all.o pcapng/build.o merge/output/ledger.o
 * merge/output/outlet.o merge/output/trace.o pcapng/receptions.o merge/output/writer.o
 * merge/sweep/retire.o merge/sweep/sweep.o common/stop.o
 */
/*
 * The whole merge of any capture. First byte: from a file, or as a stream; transmissions, all
 * receptions, or a slice. Always holds: the ledger balances, and the trace is well formed, has as
 * many packets as the ledger, and carries the ledger. Those that only pass have no packet id.
 */
#include <fcntl.h>
#include <sodium.h>

#include "common/log.h"
#include "fuzz.h"
#include "merge/input/files.h"
#include "merge/input/left.h"
#include "merge/input/pipe.h"
#include "merge/output/all.h"
#include "pcapng/build.h"
#include "merge/output/trace.h"
#include "merge/output/writer.h"

struct fuzzed {
	struct sensors sensors;
	struct merge merge;
	struct take take;
	struct outlet outlet;
	struct writer writer;
	struct all all;
};

struct found {
	uint64_t packets, passed; /* with a packet id, and without */
	struct ledger ledger;
	bool has_ledger;
};

static int block(void *context, struct pcapng_block *b)
{
	struct found *f = context;
	struct pcapng_option o;

	if (b->type == BLOCK_PACKET) {
		bool has_id = trace_receptions(b).number;

		f->packets += has_id;
		f->passed += !has_id;
		return 0;
	}
	while (b->type == BLOCK_STATISTICS && pcapng_option(b, &o))
		if (o.code == OPT_COMMENT)
			f->has_ledger |= ledger_read(&f->ledger, (const char *)o.value, o.len);
	return 0;
}

static void path_of(int fd, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
}

static int read_it(struct fuzzed *x, int in, bool stream)
{
	struct names names = { .list = NULL };
	struct files *f = NULL;
	uint64_t missed = 0;
	char path[32];
	int err;

	path_of(in, path);
	if (stream)
		return pipe_read(&x->take, in, &missed, NULL, NULL);
	err = names_add(&names, path) ?: names_open(&names, &x->take.counters.bad_blocks);
	if (!err) {
		f = files_open(&x->take, &names);
		CHECK(f);
		err = files_look(f) ?: files_read(f, NULL, NULL);
		files_close(f);
	}
	names_free(&names);
	return err;
}

static void finish(struct fuzzed *x, int out, bool all)
{
	struct ledger *l = all ? &x->all.ledger : &x->writer.ledger;
	struct found f = { .packets = 0 };
	char path[32];

	l->frames = x->take.counters.frames;
	l->malformed = x->take.counters.malformed;
	l->other = x->take.counters.other;
	l->left_to_others += x->take.counters.left;
	CHECK(ledger_balance(l) == 0);
	CHECK((all ? all_finish(&x->all) : writer_finish(&x->writer)) == 0);
	path_of(out, path);
	CHECK(trace_read(path, block, &f) == 0 && f.has_ledger);
	CHECK(f.packets == (all ? l->receptions : l->transmissions + l->late_found));
	CHECK(f.passed <= (all ? l->malformed + l->other : 0));
	CHECK(!memcmp(&f.ledger, l, sizeof(*l)));
}

static int take(void *context, const struct transmission *t)
{
	struct fuzzed *x = context;

	if (!t->left)
		return x->sensors.all ? all_take(&x->all, t) : writer_take(&x->writer, t);
	ledger_left(&x->writer.ledger, t);
	return 0;
}

static bool leaves(void *context, const struct transmission *t)
{
	const struct fuzzed *x = context;

	return left_to_others(&x->sensors, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct slice lower = { 1, 2, 1, { { true, 1 } }, { 2412, 0 } };
	static struct fuzzed x;
	uint8_t how = len ? *data : 0;
	bool all = how & 1, stream = how & 2, slice = !all && how & 4;
	struct merge_sink sink = { take, &x, slice ? leaves : NULL };
	int in = fuzz_file(data + (len > 0), len - (len > 0)), out = fuzz_file("", 0);
	char path[32];

	log_settings.fd = -1; /* no line */
	CHECK(sodium_init() >= 0);
	memset(&x, 0, sizeof(x));
	x.sensors.merge = &x.merge;
	x.sensors.slice = slice ? &lower : NULL;
	x.take.sensors = &x.sensors;
	x.take.merge = &x.merge;
	path_of(out, path);
	CHECK(outlet_open(&x.outlet, path, "unified", 0, false, NULL, NULL) == 0);
	CHECK(merge_init(&x.merge, &sink) == 0);
	x.merge.match.keep_all = x.sensors.all = all;
	all_init(&x.all, &x.outlet, &x.sensors);
	writer_init(&x.writer, &x.outlet, &x.sensors, &x.merge);
	if (read_it(&x, in, stream) == 0)
		finish(&x, out, all);
	merge_free(&x.merge);
	all_free(&x.all);
	writer_free(&x.writer);
	outlet_free(&x.outlet);
	sensors_free(&x.sensors);
	close(in);
	close(out);
	return 0;
}
