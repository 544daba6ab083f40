// SPDX-License-Identifier: GPL-2.0
/* Plan: see plan.h. */
#include "plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/duration.h"
#include "common/suggest.h"

void plan_asked_init(struct plan_asked *a)
{
	*a = (struct plan_asked){
		.dwell_us = PLAN_DWELL_US,
		.settle_us = PLAN_SETTLE_US,
		.floor = PLAN_FLOOR,
	};
}

/* ---- the text -------------------------------------------------------------------------------- */

static int wrong(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, PLAN_WHY_LEN, format, args);
	va_end(args);
	return -EINVAL;
}

/* Reads a number of at most `max`. Returns its digits, or 0 if it is malformed or too large. */
static size_t number(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	size_t n = 0;

	*out = 0;
	while (n < len && text[n] >= '0' && text[n] <= '9') {
		*out = *out * 10 + (text[n++] - '0');
		if (*out > max)
			return 0;
	}
	return n;
}

int plan_time(const char *text, size_t len, uint32_t *us)
{
	uint64_t long_us;

	if (duration_us(text, len, PLAN_CYCLE_MAX_US, &long_us))
		return -EINVAL;
	*us = long_us;
	return 0;
}

/* An entry while it is parsed. */
struct item {
	const char *text;
	size_t len;
	uint32_t dwell_us;
	uint32_t weight; /* 0: not given */
	bool dwell_given;
};

static int item_wrong(char *why, const struct item *m, const char *what)
{
	return wrong(why, "'%.*s': %s", m->len < 40 ? (int)m->len : 40, m->text, what);
}

static int take_weight(struct item *m, const char *text, size_t len, char why[PLAN_WHY_LEN])
{
	uint64_t weight;

	if (m->weight)
		return item_wrong(why, m, "two weights");
	if (!len || number(text, len, PLAN_WEIGHT_MAX, &weight) != len || !weight)
		return item_wrong(why, m, "behind x stands a weight, from 1 to 100");
	m->weight = weight;
	return 0;
}

static int take_dwell(struct item *m, const char *text, size_t len, char why[PLAN_WHY_LEN])
{
	if (m->dwell_given)
		return item_wrong(why, m, "two dwells");
	if (plan_time(text, len, &m->dwell_us) || m->dwell_us < PLAN_DWELL_MIN_US)
		return item_wrong(why, m,
				  "behind @ stands a dwell, as 250ms or 2s, from 5ms to an hour");
	m->dwell_given = true;
	return 0;
}

/* Parses the text after the channel, whose length is `at`. */
static int take_suffixes(struct item *m, size_t at, char why[PLAN_WHY_LEN])
{
	int err = 0;

	while (!err && at < m->len) {
		const char *text = m->text + at + 1;
		size_t len = 0;

		while (at + 1 + len < m->len && text[len] != 'x' && text[len] != '@')
			len++;
		err = m->text[at] == 'x' ? take_weight(m, text, len, why)
					 : take_dwell(m, text, len, why);
		at += 1 + len;
	}
	return err;
}

static int put(struct plan *p, uint32_t place, const struct radio_channel *c, uint32_t weight,
	       uint32_t asked_us, char why[PLAN_WHY_LEN])
{
	struct plan_entry *e = &p->entries[place];

	if (p->count == PLAN_MAX)
		return wrong(why, "more than %d channels", PLAN_MAX);
	memmove(e + 1, e, (p->count++ - place) * sizeof(*e));
	*e = (struct plan_entry){ .channel = *c, .weight = weight, .asked_us = asked_us };
	return 0;
}

static int take_item(struct plan *p, struct item *m, char why[PLAN_WHY_LEN])
{
	struct radio_channel c;
	struct suggest s;
	const char *what;
	size_t len = 0;
	int err;

	while (len < m->len && m->text[len] != 'x' && m->text[len] != '@')
		len++;
	err = take_suffixes(m, len, why);
	if (err)
		return err;
	m->weight = m->weight ?: 1;
	if (m->dwell_us > PLAN_CYCLE_MAX_US / m->weight)
		return item_wrong(why, m, "more than an hour");
	if (len == 3 && !memcmp(m->text, "all", 3)) {
		if (p->all)
			return item_wrong(why, m, "given twice");
		p->all = p->count + 1;
		p->all_weight = m->weight;
		p->all_us = m->dwell_us * m->weight;
		return 0;
	}
	if (!len)
		return item_wrong(why, m, "a channel is missing");
	suggest_begin(&s, m->text, len);
	suggest_offer(&s, "all");
	if (channel_parse(&c, m->text, len, &what))
		return item_wrong(why, m, s.word ? "no channel; did you mean all?" : what);
	return put(p, p->count, &c, m->weight, m->dwell_us * m->weight, why);
}

static uint64_t cycle_us(const struct plan *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->count; i++)
		sum += p->entries[i].asked_us;
	return sum;
}

static int check(const struct plan *p, char why[PLAN_WHY_LEN])
{
	return cycle_us(p) > PLAN_CYCLE_MAX_US ? wrong(why, "all dwells are more than an hour") : 0;
}

int plan_parse(struct plan *p, const struct plan_asked *a, const char *list, size_t len,
	       char why[PLAN_WHY_LEN])
{
	const char *at = list, *end = list + len;
	int err;

	memset(p, 0, offsetof(struct plan, entries));
	p->floor = a->floor;
	p->proportional = a->proportional;
	for (;; at++) {
		const char *comma = memchr(at, ',', end - at);
		struct item m = { .text = at, .dwell_us = a->dwell_us };

		m.len = (comma ? comma : end) - at;
		err = take_item(p, &m, why);
		at += m.len;
		if (err || at == end)
			return err ?: check(p, why);
	}
}

int plan_find(const struct plan *p, const struct radio_channel *c)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (channel_is(&p->entries[i].channel, c))
			return i;
	return -1;
}

static bool has_frequency(const struct plan *p, uint16_t mhz)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (p->entries[i].channel.mhz == mhz)
			return true;
	return false;
}

int plan_expand(struct plan *p, const struct radio_channel *channels, unsigned int count,
		char why[PLAN_WHY_LEN])
{
	uint32_t place = p->all - 1;
	int err = 0;

	for (unsigned int i = 0; p->all && !err && i < count; i++)
		if (!has_frequency(p, channels[i].mhz))
			err = put(p, place++, &channels[i], p->all_weight, p->all_us, why);
	p->all = 0;
	if (!err && !p->count)
		err = wrong(why, "the card has no channel to listen to");
	return err ?: check(p, why);
}

/* ---- who gets how much ----------------------------------------------------------------------- */

/* Returns each entry's minimum share of a cycle. */
static uint32_t floor_us(const struct plan *p, uint32_t cycle)
{
	uint32_t least = ((uint64_t)cycle * p->floor + 99) / 100, each = cycle / p->count;

	if (least < PLAN_DWELL_MIN_US)
		least = PLAN_DWELL_MIN_US;
	return least < each ? least : each;
}

static uint64_t weighted(const struct plan_entry *e)
{
	return (uint64_t)e->rate * e->weight;
}

/* Divides the time above the floor by frame rates. The busiest entry gets the rest of the
 * division. */
static void share(struct plan *p, uint64_t rates)
{
	uint32_t cycle = cycle_us(p), least = floor_us(p, cycle), rest = cycle - p->count * least;
	uint32_t left = rest, busiest = 0, shift = 0;

	while (rates >> shift >> 32)
		shift++; /* so that products fit in 64 bits */
	for (uint32_t i = 0; i < p->count; i++) {
		struct plan_entry *e = &p->entries[i];
		uint32_t more = rest * (weighted(e) >> shift) / (rates >> shift);

		e->dwell_us = least + more;
		left -= more;
		if (weighted(e) > weighted(&p->entries[busiest]))
			busiest = i;
	}
	p->entries[busiest].dwell_us += left;
}

static void make_dwells(struct plan *p)
{
	uint64_t rates = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		p->entries[i].dwell_us = p->entries[i].asked_us;
		rates += weighted(&p->entries[i]);
	}
	if (p->proportional && rates)
		share(p, rates);
}

void plan_start(struct plan *p)
{
	p->at = 0;
	make_dwells(p);
}

void plan_step(struct plan *p)
{
	if (p->at + 1 < p->count)
		p->at++;
	else
		plan_start(p);
}

void plan_heard(struct plan *p, unsigned int i, uint64_t frames, uint64_t us)
{
	struct plan_entry *e = &p->entries[i];
	uint64_t rate;

	if (!us)
		return;
	rate = frames < UINT32_MAX ? frames * 1000000000ULL / us : UINT32_MAX;
	if (rate > UINT32_MAX)
		rate = UINT32_MAX;
	e->rate = e->visited ? (3 * (uint64_t)e->rate + rate) / 4 : rate;
	e->visited = true;
}

/* ---- the grid -------------------------------------------------------------------------------- */

void plan_grid(struct plan *p, uint64_t now_ns, uint64_t *ends_ns)
{
	uint64_t slot = p->entries[0].asked_us * 1000ULL, n = (now_ns + slot / 8) / slot;

	p->at = (n + (uint64_t)p->member * p->count / p->members) % p->count;
	*ends_ns = (n + 1) * slot;
}
