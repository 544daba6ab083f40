// SPDX-License-Identifier: GPL-2.0
/* In place of --spool (NEEDS_spool in the Makefile): what waits is in memory, and nowhere else. */
#include <saluki/log.h>

#include "agent/export/forward.h"
#include "agent/export/stow.h"

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

void stow_totals(struct stow *st, const uint8_t *message, size_t len)
{
	(void)st;
	(void)message;
	(void)len;
}

bool stow_is_whole(const struct stow *st)
{
	(void)st;
	return true;
}

uint64_t stow_end(struct stow *st, uint64_t exported, const uint8_t *totals, size_t len,
		  uint64_t *stay)
{
	(void)st;
	(void)exported;
	(void)totals;
	(void)len;
	*stay = 0;
	return 0;
}

/* ---- the store and nothing else -------------------------------------------------------------- */

void stow_begin(struct stow *st, struct spool *spool, struct deliver *d)
{
	(void)spool;
	*st = (struct stow){ .deliver = d };
}

bool stow_put(struct stow *st, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
	      bool spill)
{
	(void)spill;
	return deliver_put(st->deliver, wire, len, first, frames);
}

bool stow_turn(struct stow *st, bool up, uint64_t now_ns)
{
	(void)st;
	(void)up;
	(void)now_ns;
	return false;
}

bool stow_is_full(struct stow *st)
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
