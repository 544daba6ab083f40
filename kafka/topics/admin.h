/* SPDX-License-Identifier: GPL-2.0 */
/* Admin: waits for the brokers' answer to one request about topics, while signals are read. */
#ifndef KAFKA_TOPICS_ADMIN_H
#define KAFKA_TOPICS_ADMIN_H

#include "kafka/client/client.h"
#include "kafka/client/signals.h"

#define ADMIN_TIMEOUT_MS 5000

struct admin {
	rd_kafka_queue_t *queue;
	rd_kafka_AdminOptions_t *options;
};

void admin_begin(struct admin *a, struct client *c, rd_kafka_admin_op_t request);
/* After the request. Returns the answer, to be destroyed by the caller, or NULL after
 * ADMIN_TIMEOUT_MS or a signal to stop. */
rd_kafka_event_t *admin_wait(struct admin *a, struct client *c, struct signals *s);
void admin_end(struct admin *a);

#endif
