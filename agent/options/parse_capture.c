// SPDX-License-Identifier: GPL-2.0
/* Options of capture: see parse_capture.h. */
#include "parse_capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/record.h>

#include "agent/filter/filter.h"
#include "agent/radio/plan.h"
#include "common/log.h"

#define RING_SIZE_DEFAULT (4096 * 1024)

/* Small builds have no 'saluki capture'. */
#ifdef WITHOUT_BPF
#define LISTS_INTERFACES "'ip link'"
#else
#define LISTS_INTERFACES "'saluki capture -D'"
#endif

void capture_options_init(struct capture_options *o)
{
	*o = (struct capture_options){
		.snaplen = SALUKI_SNAPLEN_DEFAULT,
		.ring_size = RING_SIZE_DEFAULT,
		.deaf_after_s = 60,
	};
	plan_asked_init(&o->plan);
}

int parse_number(const char *flag, long min, long max, uint32_t *out)
{
	long value;
	int err = options_number(flag, optarg, min, max, &value);

	if (!err)
		*out = value;
	return err;
}

int parse_power_of_two(const char *flag, long min, long max, uint32_t *out)
{
	if (parse_number(flag, min, max, out))
		return -EINVAL;
	if (*out & (*out - 1)) {
		log_line("%s %s: must be a power of two", flag, optarg);
		return -EINVAL;
	}
	return 0;
}

static int parse_ring_size(uint32_t *out)
{
	uint32_t kib;

	if (parse_power_of_two("--ring-size", 64, 1024 * 1024, &kib))
		return -EINVAL;
	*out = kib * 1024;
	return 0;
}

static int add_interface(struct capture_options *o)
{
	if (!strcmp(optarg, "any")) {
		log_line("-i any: give -i several times, once for each interface; " LISTS_INTERFACES
			 " lists the interfaces");
		return -EINVAL;
	}
	for (unsigned int i = 0; i < o->count; i++) {
		if (!strcmp(o->interfaces[i], optarg)) {
			log_line("-i %s: given twice", optarg);
			return -EINVAL;
		}
	}
	if (o->count == INTERFACES_MAX) {
		log_line("-i %s: at most %d interfaces; run a second saluki", optarg,
			 INTERFACES_MAX);
		return -EINVAL;
	}
	o->plans[o->count] = o->plan;
	o->monitors[o->count] = o->monitor;
	o->interfaces[o->count++] = optarg;
	return 0;
}

static int take_choice(struct capture_options *o, int id)
{
	static const char *const keeps[] = { "headers", "all", NULL };
	static const char *const bad_fcs[] = { "keep", "drop", NULL };
	static const char *const sources[] = { "auto", "xdp", "tc", "mmap", "xsk", NULL };
	static const char *const rings[] = { "auto", "bpf", "mapped", NULL };
	static const char *const directions[] = { "in", "out", "inout", NULL };
	int choice = 0, err;

	switch (id) {
	case 'Q':
		err = options_choice("--direction", optarg, directions, &choice);
		o->direction = choice;
		o->given |= GIVEN_DIRECTION;
		return err;
	case OPT_KEEP:
		err = options_choice("--keep", optarg, keeps, &choice);
		o->keep = choice + KEEP_HEADERS;
		o->given |= GIVEN_KEEP;
		return err;
	case OPT_BAD_FCS:
		err = options_choice("--bad-fcs", optarg, bad_fcs, &choice);
		o->bad_fcs = choice + BAD_FCS_KEEP;
		o->given |= GIVEN_BAD_FCS;
		return err;
	case OPT_SOURCE:
		err = options_choice("--source", optarg, sources, &choice);
		o->source = choice;
		o->given |= GIVEN_SOURCE;
		return err;
	case OPT_RING:
		err = options_choice("--ring", optarg, rings, &choice);
		o->ring = choice;
		o->given |= GIVEN_RING;
		return err;
	default:
		return -ENOENT;
	}
}

static int take_code(struct capture_options *o)
{
	char why[FILTER_WHY_LEN];

	o->given |= GIVEN_FILTER;
	o->filter.code = filter_open_code(optarg, why, sizeof(why));
	if (!o->filter.code)
		log_line("%s", why);
	return o->filter.code ? 0 : -EINVAL;
}

static int take_file(struct capture_options *o)
{
	char why[FILTER_WHY_LEN];

	o->given |= GIVEN_FILTER;
	o->filter.expression = filter_read_expression(optarg, why, sizeof(why));
	if (!o->filter.expression)
		log_line("%s", why);
	return o->filter.expression ? 0 : -EINVAL;
}

/* As in tcpdump, 0 and values larger than any frame mean whole frames. */
static int take_snaplen(struct capture_options *o)
{
	char *end;
	unsigned long value = strtoul(optarg, &end, 10);

	o->given |= GIVEN_SNAPLEN;
	o->snaplen = SALUKI_SNAPLEN_MAX;
	if (*optarg >= '0' && *optarg <= '9' && !*end && (!value || value > SALUKI_SNAPLEN_MAX))
		return 0;
	return parse_number("--snaplen", SALUKI_SNAPLEN_MIN, SALUKI_SNAPLEN_MAX, &o->snaplen);
}

int capture_expression(struct capture_options *o, int argc, char **argv)
{
	if (o->filter.code && o->filter.expression) {
		log_line("give -F or --filter-code, not both");
		return -EINVAL;
	}
	if (optind == argc)
		return 0;
	if (o->filter.code || o->filter.expression) {
		log_line("%s: give an expression or %s, not both", argv[optind],
			 o->filter.code ? "--filter-code" : "-F");
		return -EINVAL;
	}
	o->given |= GIVEN_FILTER;
	o->filter.expression = filter_join(argc - optind, argv + optind);
	return o->filter.expression ? 0 : -EINVAL;
}

int capture_option(struct capture_options *o, int id)
{
	switch (id) {
	case 'i':
		return add_interface(o);
	case 's':
		return take_snaplen(o);
	case 'B':
		o->given |= GIVEN_RING_SIZE;
		return parse_ring_size(&o->ring_size);
	case 'F':
		return take_file(o);
	case OPT_FILTER_CODE:
		return take_code(o);
	case OPT_CONSUME:
		o->given |= GIVEN_CONSUME;
		o->consume = true;
		return 0;
	default:
		return take_choice(o, id);
	}
}

const char *capture_options_wrong(const struct capture_options *o)
{
	if (o->ring_size / 4 < o->snaplen)
		return "-B is too small: it must have room for four frames of -s bytes";
	if (o->ring == RING_MAPPED && o->ring_size > MAPPED_SIZE_MAX)
		return "--ring mapped takes a -B of at most 262144";
	if (o->source == SOURCE_XDP && o->direction != DIRECTION_IN)
		return "--source xdp sees received frames only; use --source tc for -Q out";
	if (o->source == SOURCE_XSK && o->direction != DIRECTION_IN)
		return "--source xsk sees received frames only; use --source tc for -Q out";
	if (o->source == SOURCE_XSK && o->persistent)
		return "--source xsk does not stay: its sockets end with their process";
	if (o->source == SOURCE_XSK && o->given & GIVEN_MONITOR)
		return "--source xsk has its sockets before --monitor makes an interface; make it "
		       "with 'iw' first";
	if (o->source == SOURCE_XSK && o->ring == RING_MAPPED)
		return "--source xsk has rings of its own; --ring goes with xdp and tc";
	if (o->source == SOURCE_MMAP && o->consume)
		return "--consume: packet sockets hear copies; use --source xdp or tc";
	if (o->source == SOURCE_MMAP && o->ring == RING_MAPPED)
		return "--ring mapped goes with --source xdp and tc";
	return NULL;
}
