// SPDX-License-Identifier: GPL-2.0
/* Refused list: see refused_list.h. */
#include "refused_list.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/monotonic.h"

/* Copies the address, without its port. */
static void address_set(struct board_refused *r, const struct sockaddr *from)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (from->sa_family == AF_INET) {
		memcpy(&in, from, sizeof(in));
		in.sin_port = 0;
		r->address_len = sizeof(in);
		memcpy(r->address, &in, sizeof(in));
	} else {
		memcpy(&in6, from, sizeof(in6));
		in6.sin6_port = 0;
		r->address_len = sizeof(in6);
		memcpy(r->address, &in6, sizeof(in6));
	}
}

static bool is_same(const struct board_refused *a, const struct board_refused *b)
{
	if (a->reason != b->reason || strcmp(a->name, b->name) || strcmp(a->key, b->key))
		return false;
	return *a->name || *a->key || !memcmp(a->address, b->address, sizeof(a->address));
}

/* Returns the place of a refusal: an earlier one's, a free one, or the oldest's. */
static struct board_refused *place_of(struct refused_list *l, const struct board_refused *r)
{
	struct board_refused *oldest = &l->of[0];

	for (unsigned int i = 0; i < l->count; i++) {
		if (is_same(&l->of[i], r))
			return &l->of[i];
		if (l->of[i].last_us < oldest->last_us)
			oldest = &l->of[i];
	}
	return l->count < BOARD_REFUSED_MAX ? &l->of[l->count++] : oldest;
}

void refused_list_add(struct refused_list *l, enum board_reason reason, const char *name,
		      const char *key, const struct sockaddr *from)
{
	uint64_t now_us = clock_ns(CLOCK_REALTIME) / 1000;
	struct board_refused r = { .reason = reason, .first_us = now_us }, *at;

	snprintf(r.name, sizeof(r.name), "%s", name);
	snprintf(r.key, sizeof(r.key), "%s", key);
	address_set(&r, from);
	at = place_of(l, &r);
	if (is_same(at, &r)) {
		r.first_us = at->first_us;
		r.count = at->count;
	}
	r.last_us = now_us;
	r.count++;
	*at = r;
}
