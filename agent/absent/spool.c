// SPDX-License-Identifier: GPL-2.0
/* In place of --spool (NEEDS_spool in the Makefile): it is refused. The rest is never called. */
#include "agent/export/forward.h"
#include "agent/export/spool.h"
#include "common/log.h"

struct spool *spool_open_file(const char *path, uint64_t bytes)
{
	log_line("--spool %s refused: this saluki is built without it", path);
	return NULL;
}

int spool_begin(struct spool *s, struct session *session, uint64_t next)
{
	return 0;
}

int spool_start(struct spool *s)
{
	return 0;
}

void spool_free(struct spool *s)
{
}

bool spool_keep(struct spool *s, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
		bool spill)
{
	return false;
}

bool spool_turn(struct spool *s, bool up, uint64_t now_ns)
{
	return false;
}

void spool_totals(struct spool *s, const uint8_t *message, size_t len)
{
}

bool spool_is_full(struct spool *s)
{
	return true;
}

uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay)
{
	*stay = 0;
	return 0;
}

int forward_init(struct forward *f, struct spool *spool, struct saluki_exported *counters)
{
	return 0;
}

bool forward_turn(struct forward *f, uint64_t now_ns)
{
	return false;
}
