// SPDX-License-Identifier: GPL-2.0
/* saluki-merge check: counts what is in a trace, compares it with the trace's ledger, and says
 * whether the ledger balances. In: an untrusted trace; the files of a series are one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common/log.h"
#include "merge/model/reception.h"
#include "pcapng/build.h"
#include "merge/output/ledger.h"
#include "merge/output/trace.h"

const struct option_def check_defs[] = {
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

struct checked {
	struct ledger said, found; /* by the ledger; in the blocks */
	bool has_ledger;
	int64_t newest_ns;
	uint64_t number;      /* of the last transmission */
	uint64_t unordered;   /* blocks that are earlier than one before, and not late */
	uint64_t misnumbered; /* numbers that are not one more than the last, */
	uint64_t repeated;    /* and those that are not higher */
	uint64_t passed;      /* of another link type, or malformed */
};

static void help(void)
{
	printf("Usage: saluki-merge check FILE...\n\n"
	       "Prints the ledger of a unified trace, and checks that it balances, and that it is\n"
	       "what the file has. The files of -C are one trace: give all of them, in their "
	       "order.\n\n");
	options_print(stdout, check_defs);
	printf("\nExit status: 0 the ledger balances, 1 it does not, or failed, 2 bad usage.\n");
}

static void in_order(struct checked *c, int64_t at)
{
	c->unordered += at < c->newest_ns;
	if (at > c->newest_ns)
		c->newest_ns = at;
}

static void transmission(struct checked *c, const struct trace_receptions *all, int64_t at)
{
	uint8_t flags = all->count ? trace_reception(all, 0).flags : 0;
	bool found = trace_comes_late(all, c->number);

	ledger_block(&c->found, all->count, flags, found);
	if (!(flags & HEARD_LATE))
		in_order(c, at);
	if (found)
		return;
	c->misnumbered += all->number != c->number + 1;
	c->repeated += all->number <= c->number;
	c->number = all->number;
}

/* With --all, a block is a reception, does not say that it is late, and the ledger alone counts
 * transmissions. */
static void packet(struct checked *c, struct pcapng_block *b)
{
	struct trace_receptions all = trace_receptions(b);
	int64_t at = b->ticks;

	if (all.of) {
		transmission(c, &all, at);
		return;
	}
	if (!all.number) { /* of another link type, or malformed: late or not */
		c->passed++;
		return;
	}
	c->found.receptions++;
	in_order(c, at);
}

static int block(void *context, struct pcapng_block *b)
{
	struct checked *c = context;
	struct pcapng_option o;

	if (b->type == BLOCK_PACKET)
		packet(c, b);
	while (b->type == BLOCK_STATISTICS && pcapng_option(b, &o))
		if (o.code == OPT_COMMENT)
			c->has_ledger |= ledger_read(&c->said, (const char *)o.value, o.len);
	return 0;
}

static uint64_t differs(const char *what, uint64_t said, uint64_t found)
{
	if (said != found)
		printf("differs       %s: the ledger has %" PRIu64 ", and the file %" PRIu64 "\n",
		       what, said, found);
	return said != found;
}

/* A slice has gaps, where transmissions are left to other mergers. */
static uint64_t compare_numbers(const struct checked *c)
{
	uint64_t all = c->said.transmissions + c->said.left_transmissions;

	if (!c->said.left_transmissions)
		return differs("numbers that are not one more than the last", 0, c->misnumbered);
	return differs("numbers that are not higher than the last", 0, c->repeated) +
	       differs("transmissions and left_transmissions", all,
		       c->number > all ? c->number : all);
}

/* Returns whether all is well. */
static bool compare(const struct checked *c)
{
	const struct ledger *a = &c->said, *b = &c->found;
	uint64_t wrong = differs("receptions", a->receptions, b->receptions);

	if (b->transmissions) { /* not with --all */
		wrong += differs("transmissions", a->transmissions, b->transmissions);
		wrong += differs("several", a->several, b->several);
		wrong += differs("only_one", a->only_one, b->only_one);
		wrong += differs("ambiguous", a->ambiguous, b->ambiguous);
		wrong += differs("bad_fcs", a->bad_fcs, b->bad_fcs);
		wrong += differs("unaligned", a->unaligned, b->unaligned);
		wrong += differs("late_new", a->late_new, b->late_new);
		wrong += differs("late_found", a->late_found, b->late_found);
		wrong += differs("blocks that are earlier than one before", 0, c->unordered);
	} else if (c->unordered > a->late_found + a->late_new) {
		wrong += differs("blocks that are earlier than one before",
				 a->late_found + a->late_new, c->unordered);
	}
	if (c->passed > a->malformed + a->other)
		wrong += differs("malformed and other", a->malformed + a->other, c->passed);
	wrong += compare_numbers(c);
	return !wrong && !ledger_balance(a);
}

int check_main(int argc, char **argv)
{
	int status = commands_parse(check_defs, help, argc, argv), err = 0;
	struct checked c = { .newest_ns = INT64_MIN };

	if (status)
		return status < 0 ? 0 : status;
	for (int i = optind; !err && i < argc; i++)
		err = trace_read(argv[i], block, &c);
	if (err)
		return 1;
	if (!c.has_ledger) {
		log_line("%s: has no ledger at its end: the merge was ended before, or the file is "
			 "of another program",
			 argv[argc - 1]);
		return 1;
	}
	ledger_print(stdout, &c.said, "");
	return compare(&c) ? 0 : 1;
}
