// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces --one-way in builds without libbpf, to save 4 KB: the option is refused, and the other
 * functions are never called.
 */
#include <errno.h>

#include "agent/export/one_way.h"
#include "common/log.h"

int one_way_start(struct session *s)
{
	(void)s;
	log_line("--one-way refused: this saluki is built without it");
	return -EOPNOTSUPP;
}

int one_way_tick(struct session *s, uint64_t now_ns)
{
	(void)s;
	(void)now_ns;
	return 0;
}

void one_way_begun(struct deliver *d, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
}

uint32_t one_way_may(struct deliver *d, uint32_t may, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return may;
}

void one_way_sent(struct deliver *d, uint32_t sent)
{
	(void)d;
	(void)sent;
}

uint64_t one_way_due_ns(const struct deliver *d, uint64_t due_ns, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return due_ns;
}

void one_way_ack(struct deliver *d, struct ack *a)
{
	(void)d;
	(void)a;
}
