// SPDX-License-Identifier: GPL-2.0
/* Admin: see admin.h. */
#include "admin.h"

#include <stddef.h>

#define STEP_MS 100

void admin_begin(struct admin *a, struct client *c, rd_kafka_admin_op_t request)
{
	char error[128];

	c->brokers->all_down = false; /* this request tries again */
	a->queue = rd_kafka_queue_new(c->rk);
	a->options = rd_kafka_AdminOptions_new(c->rk, request);
	rd_kafka_AdminOptions_set_request_timeout(a->options, ADMIN_TIMEOUT_MS, error,
						  sizeof(error));
}

rd_kafka_event_t *admin_wait(struct admin *a, struct client *c, struct signals *s)
{
	rd_kafka_event_t *event = NULL;

	for (int ms = 0; ms < ADMIN_TIMEOUT_MS && !event && !signals_read(s); ms += STEP_MS) {
		event = rd_kafka_queue_poll(a->queue, STEP_MS);
		client_serve(c);
		if (c->brokers->refused || c->brokers->all_down) /* the caller asks again */
			break;
	}
	return event;
}

void admin_end(struct admin *a)
{
	rd_kafka_AdminOptions_destroy(a->options);
	rd_kafka_queue_destroy(a->queue);
}
