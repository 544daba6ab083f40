// SPDX-License-Identifier: GPL-2.0
/* Ledger: see ledger.h. */
#include "ledger.h"

#include <inttypes.h>
#include <string.h>

#define HEAD "ledger\n"
#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct ledger, name)                                               \
	}
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const struct field {
	const char *name;
	size_t at;
} fields[] = {
	FIELD(frames),
	FIELD(malformed),
	FIELD(other),
	FIELD(bad_blocks),
	FIELD(missed),
	FIELD(receptions),
	FIELD(merged),
	FIELD(transmissions),
	FIELD(several),
	FIELD(alone),
	FIELD(only_one),
	FIELD(ambiguous),
	FIELD(bad_fcs),
	FIELD(unaligned),
	FIELD(late_new),
	FIELD(on_time),
	FIELD(late_found),
	FIELD(joins),
	FIELD(steps),
	FIELD(slews),
	FIELD(parts),
	FIELD(part_joins),
	FIELD(evicted),
	FIELD(twins),
	FIELD(replayed),
	FIELD(misdated),
	FIELD(bad_readings),
	FIELD(left_to_others),
	FIELD(left_transmissions),
};

static uint64_t *value(const struct ledger *l, const struct field *f)
{
	return (uint64_t *)((char *)l + f->at);
}

/* A sum and its parts, by name. */
static const struct equation {
	const char *sum, *parts[8];
} equations[] = {
	{ "frames", { "receptions", "malformed", "left_to_others" } },
	{ "receptions", { "transmissions", "merged" } },
	{ "transmissions", { "several", "alone" } },
	{ "alone", { "only_one", "ambiguous", "bad_fcs", "unaligned", "late_new" } },
	{ "receptions", { "on_time", "late_found", "late_new" } },
};

static uint64_t of(const struct ledger *l, const char *name)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (!strcmp(fields[i].name, name))
			return *value(l, &fields[i]);
	return 0;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void count_alone(struct ledger *l, uint8_t flags)
{
	l->alone++;
	if (flags & HEARD_LATE)
		l->late_new++;
	else if (flags & HEARD_BAD_FCS)
		l->bad_fcs++;
	else if (flags & HEARD_UNALIGNED)
		l->unaligned++;
	else if (flags & HEARD_AMBIGUOUS)
		l->ambiguous++;
	else
		l->only_one++;
}

void ledger_block(struct ledger *l, uint32_t heard, uint8_t flags, bool found)
{
	l->receptions += heard;
	if (found) {
		l->late_found += heard;
		l->merged += heard;
		return;
	}
	l->transmissions++;
	l->merged += heard ? heard - 1 : 0;
	l->on_time += flags & HEARD_LATE ? 0 : heard;
	if (heard > 1)
		l->several++;
	else
		count_alone(l, flags);
}

void ledger_transmission(struct ledger *l, const struct transmission *t)
{
	ledger_block(l, transmission_heard(t), t->first->flags, t->found);
}

void ledger_left(struct ledger *l, const struct transmission *t)
{
	l->left_to_others += transmission_heard(t);
	l->left_transmissions += !t->found;
}

uint64_t ledger_balance(const struct ledger *l)
{
	uint64_t balance = 0;

	for (size_t i = 0; i < COUNT(equations); i++) {
		uint64_t sum = of(l, equations[i].sum), parts = 0;

		for (const char *const *p = equations[i].parts; *p; p++)
			parts += of(l, *p);
		balance += sum > parts ? sum - parts : parts - sum;
	}
	return balance;
}

/* ---- text ------------------------------------------------------------------------------------ */

void ledger_print(FILE *out, const struct ledger *l, const char *before)
{
	for (size_t i = 0; i < COUNT(equations); i++) {
		const char *const *parts = equations[i].parts;

		fprintf(out, "%s%-13s %" PRIu64, before, equations[i].sum, of(l, equations[i].sum));
		for (int k = 0; parts[k]; k++)
			fprintf(out, " %s %s %" PRIu64, k ? "+" : "=", parts[k], of(l, parts[k]));
		fputc('\n', out);
	}
	fprintf(out,
		"%snot merged    other %" PRIu64 ", bad_blocks %" PRIu64 ", missed %" PRIu64
		", left_transmissions %" PRIu64 "\n"
		"%sclocks        joins %" PRIu64 ", steps %" PRIu64 ", slews %" PRIu64
		", parts %" PRIu64 ", part_joins %" PRIu64 ", evicted %" PRIu64
		", replayed %" PRIu64 ", misdated %" PRIu64 ", bad_readings %" PRIu64
		", twins %" PRIu64 "\n"
		"%sbalance       %" PRIu64 "\n",
		before, l->other, l->bad_blocks, l->missed, l->left_transmissions, before, l->joins,
		l->steps, l->slews, l->parts, l->part_joins, l->evicted, l->replayed, l->misdated,
		l->bad_readings, l->twins, before, ledger_balance(l));
}

void ledger_write(const struct ledger *l, char text[LEDGER_TEXT_MAX])
{
	size_t n = snprintf(text, LEDGER_TEXT_MAX, HEAD);

	for (size_t i = 0; i < COUNT(fields); i++)
		n += snprintf(text + n, LEDGER_TEXT_MAX - n, "%s %" PRIu64 "\n", fields[i].name,
			      *value(l, &fields[i]));
}

bool ledger_read(struct ledger *l, const char *text, size_t len)
{
	char copy[LEDGER_TEXT_MAX], name[32];
	uint64_t number;
	int n;

	if (len >= sizeof(copy) || len < strlen(HEAD) || memcmp(text, HEAD, strlen(HEAD)))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	memset(l, 0, sizeof(*l));
	for (const char *p = copy + strlen(HEAD);
	     sscanf(p, "%31s %" SCNu64 "\n%n", name, &number, &n) == 2; p += n)
		for (size_t i = 0; i < COUNT(fields); i++)
			if (!strcmp(fields[i].name, name))
				*value(l, &fields[i]) = number;
	return true;
}
