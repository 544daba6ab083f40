// SPDX-License-Identifier: GPL-2.0
/* Options of radios: see parse_radio.h. */
#include "parse_radio.h"

#include <errno.h>
#include <string.h>

#include "agent/radio/plan.h"
#include "common/log.h"
#include "common/options.h"

static int take_channel(struct plan_asked *a)
{
	struct radio_channel channel;
	const char *why;

	if (channel_parse(&channel, optarg, strlen(optarg), &why)) {
		log_line("--channel %s: %s", optarg, why);
		return -EINVAL;
	}
	a->list = optarg;
	return 0;
}

static int check_list(const struct plan_asked *a, const char *flag, struct plan *p)
{
	char why[PLAN_WHY_LEN];
	int err = plan_parse(p, a, a->list, strlen(a->list), why);

	if (err)
		log_line("%s %.200s: %s", flag, a->list, why);
	return err;
}

/* Not on the stack, where it would stay for the whole run. */
static struct plan sketch;

static int take_channels(struct plan_asked *a)
{

	a->list = optarg;
	return check_list(a, "--channels", &sketch);
}

static int take_time(const char *flag, uint32_t min_us, uint32_t max_us, const char *range,
		     uint32_t *us)
{
	if (plan_time(optarg, strlen(optarg), us) == 0 && *us >= min_us && *us <= max_us)
		return 0;
	log_line("%s %s: must be a time with its unit, us, ms, s, m or h: %s", flag, optarg, range);
	return -EINVAL;
}

static int take_strategy(struct plan_asked *a)
{
	static const char *const strategies[] = { "equal", "proportional", NULL };
	int choice = 0, err = options_choice("--strategy", optarg, strategies, &choice);

	a->proportional = choice;
	return err;
}

static int take_floor(struct plan_asked *a)
{
	uint32_t floor;
	int err = parse_number("--floor", 0, 100, &floor);

	a->floor = err ? 0 : floor;
	return err;
}

int radio_option(struct capture_options *o, int id)
{
	struct plan_asked *a = o->count ? &o->plans[o->count - 1] : &o->plan;

	if (id < OPT_CHANNEL || id > OPT_SETTLE)
		return -ENOENT;
	o->given |= GIVEN_CHANNEL;
	switch (id) {
	case OPT_CHANNEL:
		return take_channel(a);
	case OPT_CHANNELS:
		return take_channels(a);
	case OPT_DWELL:
		return take_time("--dwell", PLAN_DWELL_MIN_US, PLAN_CYCLE_MAX_US, "5ms to an hour",
				 &a->dwell_us);
	case OPT_STRATEGY:
		return take_strategy(a);
	case OPT_FLOOR:
		return take_floor(a);
	default:
		return take_time("--settle", 0, PLAN_SETTLE_MAX_US, "0ms to 1s", &a->settle_us);
	}
}

/* A single channel is set before the capture starts, and stays: tap/tune.c. */
int radio_options_check(struct capture_options *o)
{
	for (unsigned int i = 0; i < o->count; i++) {
		if (!o->plans[i].list)
			continue;
		if (check_list(&o->plans[i], "--channels", &sketch))
			return -EINVAL;
		if (sketch.count == 1 && !sketch.all)
			o->channels[i] = sketch.entries[0].channel;
	}
	return 0;
}
