// SPDX-License-Identifier: GPL-2.0
/* Strangers: see strangers.h. */
#include "strangers.h"

#include <inttypes.h>

#include "common/log.h"
#include "common/monotonic.h"

#define INTERVAL_NS 60000000000ULL

void strangers_say(struct strangers *s, const rd_kafka_message_t *m, const char *why)
{
	uint64_t now = monotonic_ns(), before = s->count - s->said;

	s->count++;
	if (s->said_ns && now - s->said_ns < INTERVAL_NS)
		return;
	log_line("topic %s, partition %" PRId32 ", offset %" PRId64 ": passed over: %s",
		 rd_kafka_topic_name(m->rkt), m->partition, m->offset, why);
	if (before)
		log_line("and %" PRIu64 " other message%s since the last such line", before,
			 PLURAL(before));
	s->said = s->count;
	s->said_ns = now;
}
