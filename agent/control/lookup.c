// SPDX-License-Identifier: GPL-2.0
/* Lookup: see lookup.h. */
#include "lookup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "resolve.h"

int lookup_start(struct lookup *l, const struct sockets_name *to, unsigned int count)
{
	struct sockets_address a;
	bool some = false;

	memset(l, 0, sizeof(*l));
	l->sock = -1;
	for (unsigned int i = 0; i < count; i++)
		some |= l->names[i].is_name = sockets_numeric(&a, &to[i]) != 0;
	if (some)
		l->sock = resolve_start(to);
	return some && l->sock < 0 ? l->sock : 0;
}

void lookup_stop(struct lookup *l)
{
	if (l->sock >= 0)
		close(l->sock);
	l->sock = -1;
}

/* A working session needs no new address. If its collector is lost, another one may. */
static bool is_due(const struct lookup *l, const struct session *s, unsigned int i, uint64_t now_ns)
{
	return l->names[i].is_name && !l->names[i].asked && now_ns >= l->names[i].next_ns &&
	       (!s->present || !s->peers[i].address.len);
}

void lookup_tick(struct lookup *l, const struct session *s, uint64_t now_ns)
{
	for (unsigned int i = 0; l->sock >= 0 && i < s->peer_count; i++) {
		if (s->present && s->peers[i].address.len)
			l->names[i].told = false;
		if (!is_due(l, s, i, now_ns))
			continue;
		log_verbose("collector %s: looking its name up", s->peers[i].address.name);
		l->names[i].asked = resolve_ask(l->sock, i) == 0;
	}
}

static void failed(struct lookup *l, const struct session *s, const struct resolved *r,
		   uint64_t now_ns)
{
	unsigned int tries = l->names[r->name].tries++;
	uint64_t wait_ns = LOOKUP_FIRST_NS << (tries < 5 ? tries : 5);

	l->names[r->name].next_ns = now_ns + (wait_ns < LOOKUP_MOST_NS ? wait_ns : LOOKUP_MOST_NS);
	if (s->peers[r->name].address.len || l->names[r->name].told)
		return; /* keep the old address */
	l->names[r->name].told = true;
	log_line("collector %s: its name cannot be looked up: %s. Asking on, every 1 to 30 s",
		 s->peers[r->name].address.name, r->why);
}

static bool is_address(const struct resolved *r)
{
	return (r->to.ss_family == AF_INET && r->len == sizeof(struct sockaddr_in)) ||
	       (r->to.ss_family == AF_INET6 && r->len == sizeof(struct sockaddr_in6));
}

static void found(struct lookup *l, struct session *s, const struct resolved *r, uint64_t now_ns)
{
	struct sockets_address *a = &s->peers[r->name].address;
	bool moved = a->len && (a->len != r->len || memcmp(&a->to, &r->to, r->len));

	l->names[r->name].tries = 0;
	l->names[r->name].next_ns = now_ns + LOOKUP_MOST_NS;
	if (a->len && !moved)
		return;
	if (moved && !l->names[r->name].told)
		log_info("collector %s: its name leads to another address now", a->name);
	else if (!moved && l->names[r->name].told)
		log_line("collector %s: its name was looked up", a->name);
	l->names[r->name].told = moved;
	a->to = r->to;
	a->len = r->len;
	if (r->routed && !moved) {
		session_no_route(s, r->name, r->routed);
		session_tell_asking(s, r->name);
	}
	if (!s->present)
		s->next_init_ns = 0;
}

void lookup_answered(struct lookup *l, struct session *s, uint64_t now_ns)
{
	struct resolved r;
	int err;

	while (l->sock >= 0 && (err = resolve_answer(l->sock, &r)) != -EAGAIN) {
		if (err || r.name >= s->peer_count || !l->names[r.name].asked) {
			log_line("what looks names up has ended; addresses stay as they are");
			lookup_stop(l);
			return;
		}
		l->names[r.name].asked = false;
		if (r.error || !is_address(&r))
			failed(l, s, &r, now_ns);
		else
			found(l, s, &r, now_ns);
	}
}
