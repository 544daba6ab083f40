// SPDX-License-Identifier: GPL-2.0
/* Hold: see output_hold.h. */
#include "output_hold.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>

/* A hold for --keep-free ends when this part of it more is free: files are deleted one by one. */
#define SLACK 8

static bool is_limited(const struct output *out)
{
	return out->regular && strcmp(out->o->write, "-");
}

bool hold_must_wait(const struct output *out)
{
	return out->hold.on && monotonic_ns() - out->hold.tried_ns < HOLD_RETRY_NS;
}

int hold_ask(struct output *out)
{
	struct budget *b = &out->budget;
	struct statfs fs;
	uint64_t keep, free, size;

	/* A tmpfs without a limit says nothing of its size. */
	if (!is_limited(out) || fstatfs(out->fd, &fs) || !fs.f_blocks) {
		b->on = false;
		return 0;
	}
	size = (uint64_t)fs.f_blocks * fs.f_bsize;
	keep = budget_keep(&out->o->keep_free, size);
	free = (uint64_t)fs.f_bavail * fs.f_bsize;
	/* Lines that follow may be for the same file system. */
	b->fits = free >=
		  out->len + out->lines.waiting_bytes + keep + (out->hold.on ? keep / SLACK : 0);
	budget_asked(b, out->sensors, free > out->len ? free - out->len : 0, keep, size,
		     monotonic_ns());
	return b->fits ? 0 : -ENOSPC;
}

bool hold_is_full(const struct output *out, int err)
{
	return out->regular && (err == -ENOSPC || err == -EDQUOT || err == -EFBIG);
}

static void tell_begin(const struct output *out, int err)
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
	log_line("%s: %s; nothing is written until there is room, and sensors keep their frames",
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
	if (!h->told)
		tell_begin(out, err);
	h->told = true;
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
	if (h->on || !h->told || now_ns < h->tried_ns + HOLD_OVER_NS)
		return;
	log_line("%s: there is room again; writing again", out->name);
	h->told = false;
}

bool hold_wants_tick(const struct output *out)
{
	return out->hold.told || out->budget.scarce;
}
