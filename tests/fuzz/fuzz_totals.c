// SPDX-License-Identifier: GPL-2.0
/* links: wire/totals.o collector/model/ledger.o */
/*
 * A sensor's totals, and their ledger with combos, floors, flushes and runs in any order. Always
 * holds: totals read the same when written again; with any totals, the collector's own equation
 * (exported = earlier + written + lost + in flight) is exact, and the ledger can be printed.
 */
#include <errno.h>

#include "collector/model/ledger.h"
#include "fuzz.h"
#include "wire/totals.h"

static int read_totals(struct totals *t, const uint8_t *message, size_t len)
{
	uint8_t *copy = fuzz_copy(message, len), again[TOTALS_WIRE_MAX];
	int err = totals_read(t, copy, len);
	struct totals back;
	size_t n;

	CHECK(err == 0 || err == -EBADMSG);
	fuzz_free(copy);
	if (err)
		return err;
	n = totals_write(again, t);
	CHECK(n <= sizeof(again) && totals_read(&back, again, n) == 0);
	CHECK(!memcmp(&back, t, sizeof(back)));
	return 0;
}

static void check_ledger(const struct ledger *l)
{
	static char text[4096];
	struct ledger_run s = ledger_sum(l);
	FILE *f = fmemopen(text, sizeof(text), "w");

	CHECK(s.sensor.exported ==
	      s.earlier + s.written + s.lost_missing + s.lost_disk + ledger_in_flight(l));
	CHECK(ledger_balance(l) >= 0);
	ledger_print(f, "fuzz", l);
	CHECK(fclose(f) == 0 && strlen(text) < sizeof(text) - 1);
}

static void step(struct ledger *l, struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1);
	uint64_t first = what & 128 ? fuzz_number(in, 8) : l->now.accounted + (what >> 3 & 15);
	uint32_t frames;
	struct totals t;
	size_t len;
	const uint8_t *p;

	switch (what & 7) {
	case 0:
		p = fuzz_bytes(in, fuzz_number(in, 1), &len);
		if (read_totals(&t, p, len) == 0)
			ledger_totals(l, &t);
		break;
	case 1:
		frames = fuzz_number(in, 2);
		if (ledger_combo(l, first, frames) == 0)
			l->pending += frames;
		break;
	case 2:
		ledger_flushed(l, what & 8);
		break;
	case 3: /* as runs.c begins a run */
		ledger_run_close(l);
		ledger_flushed(l, what & 8);
		ledger_run_start(l, what, fuzz_number(in, what & 16 ? 8 : 1));
		break;
	case 4:
		ledger_run_close(l);
		break;
	case 5:
		ledger_run_resume(l);
		break;
	case 6:
		ledger_floor(l, first);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	struct ledger l = { 0 };
	struct totals t;

	read_totals(&t, data, len);
	ledger_run_start(&l, 1, 0);
	while (in.p < in.end) {
		step(&l, &in);
		check_ledger(&l);
	}
	ledger_free(&l);
	return 0;
}
