// SPDX-License-Identifier: GPL-2.0
/* Ledgers: see ledgers.h. */
#include "ledgers.h"

#include <stdio.h>

#include "common/host_name.h"
#include "common/monotonic.h"

#define PARTS 100 /* of the sensors in a round */
#define PART_NS (LEDGERS_NS / PARTS)
#define JSON_MAX 2048

#define ULL(x) ((unsigned long long)(x))

void ledgers_init(struct ledgers *l, const char *port)
{
	char host[HOST_NAME_LEN];

	host_name(host);
	snprintf(l->collector, sizeof(l->collector), "%s:%.16s", host, port);
}

/* Writes all numbers: a reader adds up the last ledgers of all collectors. */
static size_t write_json(char *out, const struct ledgers *l, const struct sensor *s)
{
	struct ledger_run sum = ledger_sum(&s->ledger);
	uint64_t time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	size_t len;

	len = snprintf(
		out, JSON_MAX,
		"{\"collector\":\"%s\",\"time\":%llu.%03llu,\"id\":%u,\"name\":\"%s\","
		"\"run\":\"%016llx\",\"runs\":%llu,\"written\":%llu,\"lost_missing\":%llu,"
		"\"lost_disk\":%llu,\"lost_refused\":%llu,\"earlier\":%llu,\"vanished\":%llu,"
		"\"in_flight\":%llu,\"balance\":%lld",
		l->collector, ULL(time_ms / 1000), ULL(time_ms % 1000), s->id, s->name,
		ULL(s->ledger.run), ULL(s->ledger.runs), ULL(sum.written), ULL(sum.lost_missing),
		ULL(sum.lost_disk), ULL(sum.lost_refused), ULL(sum.earlier), ULL(sum.vanished),
		ULL(ledger_in_flight(&s->ledger)), (long long)ledger_balance(&s->ledger));
#define X(name, help)                                                                              \
	len += snprintf(out + len, JSON_MAX - len, ",\"" #name "\":%llu", ULL(sum.sensor.name));
	TOTALS_FIELDS(X)
#undef X
	out[len++] = '}';
	return len;
}

static void put(const struct ledgers *l, struct sink *k, const struct sensor *s, uint64_t now_ns)
{
	char json[JSON_MAX];

	if (s->ledger.runs && now_ns - s->heard_ns < 2 * LEDGERS_NS)
		sink_put_ledger(k, s, json, write_json(json, l, s), now_ns);
}

int ledgers_tick(struct ledgers *l, struct sink *k, const struct sensors *sensors, uint64_t now_ns)
{
	unsigned int part = (sensors->count + PARTS - 1) / PARTS;

	if (now_ns < l->next_ns)
		return monotonic_timeout(l->next_ns, now_ns);
	for (unsigned int n = 0; n < part && l->next < sensors->count; n++)
		put(l, k, sensors->list[l->next++], now_ns);
	if (l->next < sensors->count) {
		l->next_ns = now_ns + PART_NS;
	} else {
		l->next = 0;
		l->next_ns = now_ns + LEDGERS_NS - (part ? sensors->count / part : 0) * PART_NS;
	}
	return monotonic_timeout(l->next_ns, now_ns);
}

void ledgers_last(const struct ledgers *l, struct sink *k, const struct sensors *sensors,
		  uint64_t now_ns)
{
	for (unsigned int n = 0; n < sensors->count; n++)
		put(l, k, sensors->list[n], now_ns);
}
