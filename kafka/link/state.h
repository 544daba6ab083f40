/* SPDX-License-Identifier: GPL-2.0 */
/* State: tells the collector once a second, and after changes, how it goes; and the service manager
 * the same. In: lines of text. Out: a STATE packet (wire/put.h). */
#ifndef KAFKA_LINK_STATE_H
#define KAFKA_LINK_STATE_H

#include <stdbool.h>

#include "collector.h"

struct state {
	char text[PUT_TEXT_MAX], sent[PUT_TEXT_MAX];
	uint64_t sent_ns, connection;
};

/* Begins the text; `why`: NULL: all is well. */
void state_begin(struct state *s, const char *why);
/* Adds "key=value". */
__attribute__((format(printf, 2, 3))) void state_add(struct state *s, const char *fmt, ...);
/* Sends the text if a second has passed, or if it differs and `now` is set. */
void state_send(struct state *s, struct collector *c, bool now, uint64_t now_ns);

#endif
