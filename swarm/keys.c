// SPDX-License-Identifier: GPL-2.0
/*
 * The collector's keys that a simulated sensor trusts, as in agent/export/session_keys.c, but only
 * in memory. In: the key of --collector-key, orders. Out: the sensor's keys, answers.
 */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "swarm.h"

int swarm_keys_set(struct swarm_sensor *s, const struct order_keys *k)
{
	struct swarm_key keys[WIRE_ORDER_KEYS_MAX] = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < k->count && !err; i++) {
		memcpy(keys[i].public, k->key[i], KEY_LEN);
		err = tryst_pair(keys[i].pair, &s->own, k->key[i], true, NULL);
	}
	if (!err) {
		memcpy(s->keys, keys, sizeof(keys));
		s->key_count = k->count;
		s->key = 0;
		s->in_vain = false;
	}
	sodium_memzero(keys, sizeof(keys));
	return err;
}

void swarm_keys_turn(struct swarm_sensor *s)
{
	if (s->in_vain)
		s->key = (s->key + 1) % s->key_count;
	s->in_vain = true;
}

void swarm_keys_tell(const struct swarm_sensor *s, char trusts[KEY_SHORT_LEN])
{
	if (s->key_count > 1)
		key_to_short(trusts, s->keys[1 - s->key].public);
}

/* The collector repeats an order whose answer is lost, or has no room in the window. */
void swarm_ordered(struct swarm *w, struct swarm_sensor *s, const uint8_t *in, size_t len,
		   uint64_t now)
{
	uint8_t out[ANSWER_MESSAGE_MAX], status = ANSWER_DONE;
	struct order_setting set;
	struct order_message m;
	const char *why = "";

	if (order_read(&m, in, len))
		return;
	if (order_parse(&set, m.text, &why))
		status = ANSWER_UNKNOWN;
	else if (set.kind != WIRE_ORDER_KEYS)
		status = ANSWER_NOT_ALLOWED;
	else if (swarm_keys_set(s, &set.keys))
		status = ANSWER_FAILED;
	swarm_send(w, s, out, answer_write(out, m.number, status, status ? why : m.text), now);
}
