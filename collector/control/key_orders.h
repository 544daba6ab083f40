/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Key orders: tells sensors which public keys this collector has, so that it can change its key.
 * In: sessions that begin, with the sensors' descriptions. Out: orders to sensors that know the old
 * key only, or trust a key that this collector has no more; a line when every sensor knows the
 * present key. Always holds: an order names the key of the sensor's session.
 */
#ifndef COLLECTOR_CONTROL_KEY_ORDERS_H
#define COLLECTOR_CONTROL_KEY_ORDERS_H

#include "commands.h"

#define KEY_ORDERS_NS 60000000000ULL /* then an unanswered order waits for the next session */

struct key_orders {
	struct commands *commands;
	char text[WIRE_ORDER_KEYS_TEXT];
	char first[KEY_SHORT_LEN]; /* of the collector's keys */
	bool two_keys, told;
	unsigned int listed, know; /* sensors, with two keys */
};

/* Call it when the network has its keys. */
void key_orders_init(struct key_orders *k, struct commands *d);
/* Counts the sensors of the applied file. */
void key_orders_apply(struct key_orders *k, const struct sensors *list);
/* A session was set up. */
void key_orders_begun(struct key_orders *k, struct sensor *s);

#endif
