/* SPDX-License-Identifier: GPL-2.0 */
/* Forward: sends records and messages to the collector (wire/put.h). In: records.h, offsets.h. Out:
 * packets, many for each call of the kernel. Always holds: all known records go before a message.
 */
#ifndef KAFKA_GET_FORWARD_H
#define KAFKA_GET_FORWARD_H

#include "kafka/link/collector.h"
#include "offsets.h"
#include "records.h"

/* Numbers of records; DONE of them says nothing. */
#define FORWARD_RECORD (1ULL << 63)

struct forward;

struct forward *forward_new(void);
/* Returns 0: all is sent, -EAGAIN: the collector takes nothing more at present, or -errno. */
int forward_send(struct forward *f, struct collector *c, struct records *records,
		 struct offsets *offsets);
void forward_free(struct forward *f);

#endif
