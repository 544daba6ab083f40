// SPDX-License-Identifier: GPL-2.0
/* Hold: see output_hold.h. */
#include "output_hold.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/model/sensors.h"
#include "collector/sink/sink.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "sensor.h"

static bool is_limited(const struct output *out)
{
	return out->regular && strcmp(out->o->write, "-");
}

bool hold_must_wait(const struct output *out)
{
	return out->hold.on && monotonic_ns() - out->hold.tried_ns < HOLD_RETRY_NS;
}

bool output_holds(const struct output *out, const struct sensor *s)
{
	if (out->sink)
		return !sink_has_room(out->sink, &s->output->sink);
	if (out->hold.on || out->o->source) /* a sensor that waits would stop the whole log */
		return out->hold.on;
	return s->output->disk_spent >= budget_share(&out->budget);
}

bool output_holds_all(const struct output *out)
{
	return out->sink ? sink_is_full(out->sink) : out->hold.on;
}

enum output_trouble output_trouble(const struct output *out)
{
	if (output_holds_all(out))
		return out->sink ? OUTPUT_WAITS_FOR_KAFKA : OUTPUT_WAITS_FOR_DISK;
	return out->broken ? OUTPUT_CANNOT_WRITE : OUTPUT_FINE;
}

const char *output_trouble_words(unsigned int trouble)
{
	static const char *const words[OUTPUT_TROUBLES] = {
		[OUTPUT_FINE] = "",
		[OUTPUT_WAITS_FOR_DISK] = "waiting for disk space",
		[OUTPUT_WAITS_FOR_KAFKA] = "waiting for saluki-kafka",
		[OUTPUT_CANNOT_WRITE] = "cannot write",
	};

	return trouble < OUTPUT_TROUBLES ? words[trouble] : "";
}

int hold_ask(struct output *out)
{
	struct budget *b = &out->budget;
	struct free_space d;

	if (!is_limited(out) || !free_space_ask(&d, out->fd, &out->o->keep_free)) {
		b->on = false;
		return 0;
	}
	/* Event log lines may go to the same file system. */
	b->fits = free_space_fits(&d, out->len + out->lines.waiting_bytes, out->hold.on);
	budget_asked(b, out->sensors, d.free > out->len ? d.free - out->len : 0, d.keep, d.size,
		     monotonic_ns());
	return b->fits ? 0 : -ENOSPC;
}

bool hold_is_full(const struct output *out, int err)
{
	if (out->o->source) /* the log keeps what is not written, whatever the reason is */
		return err && err != -EPIPE;
	if (err == -EFBIG && out->of_capture && out->size_max == UINT64_MAX)
		return false; /* it never has room again, and no other process writes the rest */
	return out->regular && (err == -ENOSPC || err == -EDQUOT || err == -EFBIG);
}

static void log_hold(const struct output *out, int err)
{
	const struct budget *b = &out->budget;
	char why[128];

	snprintf(why, sizeof(why), "%s", strerror(-err));
	if (err == -ENOSPC && b->on && !b->fits && b->keep)
		snprintf(why, sizeof(why), "no room above the %llu kB of --keep-free",
			 (unsigned long long)(b->keep / 1000));
	if (err == -EFBIG && out->size_max == UINT64_MAX) {
		log_line("%s: may not grow any more; sensors keep their frames; start again with "
			 "another -w, and with -C, which begins the next file in time",
			 out->name);
		return;
	}
	if (out->o->source)
		log_line("%s: %s; nothing is written until that is over, and the brokers keep the "
			 "frames",
			 out->name, why);
	else
		log_line("%s: %s; nothing is written until there is room, and sensors keep their "
			 "frames",
			 out->name, why);
}

void hold_begin(struct output *out, int err)
{
	struct output_hold *h = &out->hold;

	h->tried_ns = monotonic_ns();
	if (h->on)
		return;
	h->on = true;
	h->begun_ns = h->tried_ns;
	h->count++;
	if (!h->logged)
		log_hold(out, err);
	h->logged = true;
}

void hold_end(struct output *out)
{
	struct output_hold *h = &out->hold;

	if (!h->on)
		return;
	h->tried_ns = monotonic_ns();
	h->ns += h->tried_ns - h->begun_ns;
	h->on = false;
}

void hold_try_now(struct output *out)
{
	out->hold.tried_ns = 0;
}

void hold_tick(struct output *out, uint64_t now_ns)
{
	struct output_hold *h = &out->hold;

	if (out->budget.scarce && now_ns > out->budget.asked_ns + HOLD_RETRY_NS)
		hold_ask(out);
	if (h->on || !h->logged || now_ns < h->tried_ns + HOLD_OVER_NS)
		return;
	log_line("%s: there is room again; writing again", out->name);
	h->logged = false;
}

bool hold_wants_tick(const struct output *out)
{
	return out->hold.logged || out->budget.scarce;
}
