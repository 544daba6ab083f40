// SPDX-License-Identifier: GPL-2.0
/* In place of --spool (NEEDS_spool in the Makefile): what waits is in memory, and nowhere else. */
#include "agent/export/forward.h"
#include "agent/export/spool_policy.h"
#include "common/log.h"

/* ---- there is none --------------------------------------------------------------------------- */

struct spool *spool_open_file(const char *path, uint64_t bytes)
{
	(void)bytes;
	log_line("--spool %s refused: this saluki is built without it", path);
	return NULL;
}

int spool_begin(struct spool *s, struct session *session, uint64_t next)
{
	(void)s;
	(void)session;
	(void)next;
	return 0;
}

int spool_start(struct spool *s)
{
	(void)s;
	return 0;
}

void spool_free(struct spool *s)
{
	(void)s;
}

void spool_policy_totals(struct spool_policy *st, const uint8_t *message, size_t len)
{
	(void)st;
	(void)message;
	(void)len;
}

bool spool_policy_is_whole(const struct spool_policy *st)
{
	(void)st;
	return true;
}

uint64_t spool_policy_end(struct spool_policy *st, uint64_t exported, const uint8_t *totals,
			  size_t len, uint64_t *stay)
{
	(void)st;
	(void)exported;
	(void)totals;
	(void)len;
	*stay = 0;
	return 0;
}

/* ---- the store and nothing else -------------------------------------------------------------- */

void spool_policy_begin(struct spool_policy *st, struct spool *spool, struct deliver *d)
{
	(void)spool;
	*st = (struct spool_policy){ .deliver = d };
}

bool spool_policy_put(struct spool_policy *st, const uint8_t *wire, size_t len, uint64_t first,
		      uint32_t frames, bool spill)
{
	(void)spill;
	return deliver_put(st->deliver, wire, len, first, frames);
}

bool spool_policy_turn(struct spool_policy *st, bool up, uint64_t now_ns)
{
	(void)st;
	(void)up;
	(void)now_ns;
	return false;
}

bool spool_policy_is_full(struct spool_policy *st)
{
	(void)st;
	return true;
}

int forward_init(struct forward *f, struct spool *spool, struct session *session,
		 struct saluki_exported *counters)
{
	(void)f;
	(void)spool;
	(void)session;
	(void)counters;
	return 0;
}

void forward_free(struct forward *f)
{
	(void)f;
}

bool forward_turn(struct forward *f, uint64_t now_ns)
{
	(void)f;
	(void)now_ns;
	return false;
}
