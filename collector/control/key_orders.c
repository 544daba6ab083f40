// SPDX-License-Identifier: GPL-2.0
/* Key orders: see key_orders.h. */
#include "key_orders.h"

#include <string.h>

#include "collector/network/sensor.h"
#include "common/log.h"
#include "common/monotonic.h"

void key_orders_init(struct key_orders *k, struct commands *d)
{
	const struct handshake *m = &d->network->handshake;
	struct order_keys keys = { .count = m->two_keys ? 2 : 1 };

	*k = (struct key_orders){ .commands = d, .two_keys = m->two_keys };
	for (unsigned int i = 0; i < keys.count; i++)
		memcpy(keys.key[i], m->own[i].public, KEY_LEN);
	key_to_short(k->first, keys.key[0]);
	order_keys_write(k->text, &keys);
}

/* Says once when the second key is not needed any more. */
static void tell(struct key_orders *k)
{
	bool all = k->listed && k->know == k->listed;

	if (all && !k->told)
		log_line("all %u sensors know the first --key; the second one is no longer needed",
			 k->listed);
	k->told = all;
}

void key_orders_apply(struct key_orders *k, const struct sensors *list)
{
	k->listed = k->know = 0;
	for (unsigned int i = 0; i < list->count && k->two_keys; i++) {
		k->listed += list->list[i]->listed;
		k->know += list->list[i]->listed && list->list[i]->network->knows_key;
	}
	tell(k);
}

static void knows(struct key_orders *k, struct sensor *s)
{
	if (!k->two_keys || s->network->knows_key)
		return;
	s->network->knows_key = true;
	k->know++;
	tell(k);
}

static void done(void *user, struct sensor *s, int status, const char *text)
{
	struct key_orders *k = user;
	struct network *o = k->commands->network;

	s->network->keys_ordered = false;
	if (status == ANSWER_DONE)
		knows(k, s);
	else if (status > ANSWER_DONE && k->two_keys)
		log_limit_line(&o->connected, refusals_sensor_hash("sensor", s->name),
			       refusals_sensor_hash("keys", s->name), monotonic_ns(),
			       "sensor %s: does not learn the first --key: %s; add the key to its "
			       "key file",
			       s->name, text);
	else
		log_verbose("sensor %s: keeps its collector's keys: %s", s->name, text);
}

void key_orders_begun(struct key_orders *k, struct sensor *s)
{
	const struct session *c = sensor_session(s);
	struct info info;

	if (!c || c->no_acks)
		return;
	info_read(&info, s->info.text ?: "", s->info.len);
	if (k->two_keys && (!(c->pair & SENSOR_PAIR_OLD) || !strcmp(info.trusts, k->first))) {
		knows(k, s);
		return;
	}
	if ((k->two_keys || *info.trusts) && !s->network->keys_ordered)
		s->network->keys_ordered = commands_add(k->commands, s, k->text,
							monotonic_ns() + KEY_ORDERS_NS, done,
							k) == 0;
}
