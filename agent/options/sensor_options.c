// SPDX-License-Identifier: GPL-2.0
/* The options of `saluki run` and `saluki capture`: see sensor_options.h. */
#include "sensor_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/capture/queue.h"
#include "agent/export/level.h"
#include "agent/export/session.h"
#include "agent/filter/filter.h"
#include "common/log.h"
#include "common/privsep.h"
#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/order.h"

#define DELAY_MS 200 /* longest delay in the kernel */

#define STORE_BYTES_MIN (64 * 1024)
#define STORE_BYTES_MAX (1024ULL * 1024 * 1024)
#define SPOOL_BYTES_DEFAULT (64 * 1024 * 1024)

bool sensor_option_size(uint64_t *bytes, const char *units, uint64_t min, uint64_t max)
{
	char *end, first = *optarg;
	unsigned long long count = strtoull(optarg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (unit - units + 1) : 0;

	*bytes = count << shift;
	return first >= '0' && first <= '9' && !end[unit != NULL] && count <= max >> shift &&
	       *bytes >= min;
}

static int parse_store_bytes(struct run_options *o)
{
	uint64_t bytes;

	if (!sensor_option_size(&bytes, "KM", STORE_BYTES_MIN, STORE_BYTES_MAX)) {
		log_line("--store-bytes %s: must be from %d to %llu, K or M behind it", optarg,
			 STORE_BYTES_MIN, STORE_BYTES_MAX);
		return -EINVAL;
	}
	o->store_bytes = bytes;
	return 0;
}

static int parse_compress(struct run_options *o)
{
	long level;
	char *end;

	if (!strcmp(optarg, "none") || !strcmp(optarg, "auto")) {
		o->level = *optarg == 'n' ? COMPRESS_NONE : LEVEL_AUTO;
		return 0;
	}
	level = strtol(optarg, &end, 10);
	if (end == optarg || *end || level < COMPRESS_LEVEL_MIN || level > COMPRESS_LEVEL_MAX) {
		log_line("--compress %s: must be auto, none or a whole number from %d to %d",
			 optarg, COMPRESS_LEVEL_MIN, COMPRESS_LEVEL_MAX);
		return -EINVAL;
	}
	o->level = level;
	return 0;
}

/* Applies to the interface before it, or to all following ones. */
static void take_monitor(struct capture_options *o)
{
	o->given |= GIVEN_MONITOR;
	if (o->count)
		o->monitors[o->count - 1] = true;
	else
		o->monitor = true;
}

int sensor_option(struct run_options *o, int id)
{
	int err;

	switch (id) {
	case 'r':
		o->file = optarg;
		return 0;
	case OPT_PACE:
		o->pace = true;
		return 0;
	case OPT_COMBO_SIZE:
		return parse_number("--combo-size", COMBO_SIZE_MIN, COMBO_SIZE_MAX, &o->combo_size);
	case OPT_COMBO_AGE:
		return parse_number("--combo-age", 1, 60000, &o->combo_age_ms);
	case OPT_QUEUE:
		return parse_power_of_two("--queue", 1, QUEUE_LEN, &o->queue);
	case OPT_PIPELINES:
		return parse_number("--pipelines", 1, PIPELINES_MAX, &o->pipelines);
	case OPT_COMPRESS:
		return parse_compress(o);
	case OPT_MONITOR:
		take_monitor(&o->capture);
		return 0;
	case OPT_DEAF_AFTER:
		return parse_number("--deaf-after", 0, 86400, &o->capture.deaf_after_s);
	case OPT_STORE_BYTES:
		return parse_store_bytes(o);
	case OPT_USER:
		o->user = optarg;
		return 0;
	default: /* else the error was logged */
		err = radio_option(&o->capture, id);
		return err == -ENOENT ? capture_option(&o->capture, id) : err;
	}
}

static const char *sensor_options_wrong(const struct run_options *o)
{
	if (o->pace && !o->file)
		return "--pace goes with -r";
	if (o->file && !strcmp(o->file, "-") && isatty(STDIN_FILENO))
		return "-r -: standard input is a terminal; pipe a capture to it: "
		       "'tcpdump -w - | saluki run -r - ...'";
	if (o->file && o->capture.given & GIVEN_FOR_INTERFACE)
		return "--channel, --channels, --monitor, --consume, --source, -Q, --ring and -B "
		       "go with -i";
	return capture_options_wrong(&o->capture);
}

void sensor_options_init(struct run_options *o)
{
	*o = (struct run_options){
		.user = PRIVSEP_USER_DEFAULT,
		.begin_fds = { -1, -1 },
		.combo_size = COMBO_SIZE_DEFAULT,
		.combo_age_ms = 1000,
		.queue = QUEUE_LEN,
		.level = LEVEL_AUTO,
		.renew_s = SESSION_RENEW_NS / 1000000000,
		.store_bytes = STORE_BYTES_DEFAULT,
		.spool_bytes = SPOOL_BYTES_DEFAULT,
	};
	capture_options_init(&o->capture);
}

int sensor_options_finish(struct run_options *o, const char *command)
{
	const char *wrong = sensor_options_wrong(o);

	if (wrong)
		log_line("%s: %s", command, wrong);
	if (wrong || radio_options_check(&o->capture))
		return -EINVAL;
	o->capture.steered = o->allowed & 1u << WIRE_ORDER_CHANNELS;
	/* A combo's age counts from its first frame, so the kernel's delay adds nothing. The age
	 * has room for five delays, and the inaccuracy of the kernel's clock. */
	o->capture.delay_ms = (o->combo_age_ms * 3 + 15) / 16;
	if (o->capture.delay_ms > DELAY_MS)
		o->capture.delay_ms = DELAY_MS;
	return 0;
}

/* The file's link type is known only later, in a process that cannot open files. */
int sensor_options_prepare(struct run_options *o, const char *command)
{
	char why[FILTER_WHY_LEN];
	int err = o->file ? filter_prepare(&o->capture.filter, why, sizeof(why)) : 0;

	if (err)
		log_line("%s: %s", command, why);
	return err ? EXIT_FAILURE : 0;
}
