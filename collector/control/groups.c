// SPDX-License-Identifier: GPL-2.0
/* Groups: see groups.h. */
#include "groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/model/sensors.h"
#include "common/log.h"
#include "common/monotonic.h"

void groups_begun(struct groups *g, struct sensor *s)
{
	if (s->member)
		g->next_ns = 0;
}

void groups_init(struct groups *g, struct commands *d, struct sensors *list)
{
	*g = (struct groups){ .commands = d, .sensors = list };
}

static void list_free(struct sensor_group **list, unsigned int count)
{
	for (unsigned int i = 0; list && i < count; i++)
		free(list[i]);
	free(list);
}

void groups_free(struct groups *g)
{
	for (unsigned int i = 0; g->sensors && i < g->sensors->count; i++) {
		struct sensor *s = g->sensors->list[i];

		if (s->member)
			commands_cancel(g->commands, s->member);
		free(s->member);
		s->member = NULL;
	}
	list_free(g->list, g->count);
	g->list = NULL;
	g->count = g->members = 0;
}

/* ---- the sensors file's groups --------------------------------------------------------------- */

static struct sensor_group *find(const struct groups *g, const char *name)
{
	for (unsigned int i = 0; i < g->count; i++)
		if (!strcmp(g->list[i]->name, name))
			return g->list[i];
	return NULL;
}

/* Makes a group. It continues the state of the earlier group of this name. */
static struct sensor_group *group_new(struct groups *g, const struct group_line *l)
{
	const struct sensor_group *before = find(g, l->name);
	struct sensor_group *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	strcpy(x->name, l->name);
	strcpy(x->list, l->list);
	x->end = &x->first;
	if (before) {
		x->balanced_ns = before->balanced_ns;
		x->refocused = before->refocused;
		x->focus = before->focus;
	}
	if (before && !strcmp(before->list, x->list))
		x->plan = before->plan;
	else if (*x->list)
		x->plan = ++g->plans;
	return x;
}

/* Makes the missing members of sensors in groups. Does not join them to the groups yet. */
static int members_make(struct groups *g)
{
	for (unsigned int i = 0; i < g->sensors->count; i++) {
		struct sensor *s = g->sensors->list[i];

		if (!s->group || s->member)
			continue;
		s->member = calloc(1, sizeof(*s->member));
		if (!s->member)
			return -ENOMEM;
		s->member->sensor = s;
		s->member->groups = g;
		g->members++;
	}
	return 0;
}

static void members_join(struct groups *g)
{
	for (unsigned int i = 0; i < g->sensors->count; i++) {
		struct sensor *s = g->sensors->list[i];
		struct group_member *m = s->member;

		if (!m)
			continue;
		m->group = s->listed && s->group ? g->list[s->group - 1] : NULL;
		m->next = NULL;
		if (!m->group)
			continue;
		*m->group->end = m;
		m->group->end = &m->next;
		m->group->members++;
	}
}

int groups_apply(struct groups *g, const struct groups_file *f)
{
	struct sensor_group **list = calloc(f->groups_count + 1, sizeof(*list));
	unsigned int count = 0;
	int err = list ? members_make(g) : -ENOMEM;

	while (!err && count < f->groups_count) {
		list[count] = group_new(g, &f->groups[count]);
		if (list[count])
			count++;
		else
			err = -ENOMEM;
	}
	if (err) {
		list_free(list, count);
		log_line("out of memory for %u groups", f->groups_count);
		return err;
	}
	list_free(g->list, g->count);
	g->list = list;
	g->count = count;
	g->next_ns = 0;
	members_join(g);
	return 0;
}

/* ---- shares ---------------------------------------------------------------------------------- */

static bool is_present(const struct sensor *s, uint64_t now_ns)
{
	return s->listed && s->up && !s->no_acks && !s->final_heard &&
	       now_ns - s->heard_ns < GROUPS_SILENT_NS;
}

static uint32_t plan_of(const struct group_member *m)
{
	return m->group ? m->group->plan : 0;
}

/* A new session alone does not end a refusal, as a sensor may begin sessions as often as it likes,
 * and each change deals the group's shares again. */
static bool has_refused(const struct group_member *m, uint64_t now_ns)
{
	return m->refused_in && m->refused == plan_of(m) &&
	       (m->refused_in == m->sensor->begun || now_ns - m->refused_ns < GROUPS_REFUSED_NS);
}

/* Returns whether a sensor can have a share, or can be told that it has none. */
static bool takes_part(const struct group_member *m, uint64_t now_ns)
{
	return is_present(m->sensor, now_ns) && !has_refused(m, now_ns);
}

static bool same(const struct group_share *a, const struct group_share *b)
{
	return a->plan == b->plan && a->member == b->member && a->members == b->members;
}

static void share_answered(void *user, struct sensor *s, int status, const char *text)
{
	struct group_member *m = user;

	m->asking = false;
	m->groups->next_ns = 0;
	if (status == ANSWER_DONE) {
		m->accepted = m->asked;
		m->accepted_in = m->asked_in;
		return;
	}
	/* The sensor has had a later order, perhaps of another process. */
	if (status == ANSWER_STALE)
		m->again_ns = m->groups->ticked_ns + GROUPS_BALANCE_NS;
	if (status < 0 || status == ANSWER_STALE)
		return; /* asked again if still present */
	m->refused_ns = m->groups->ticked_ns;
	m->refused_in = m->asked_in;
	m->refused = m->asked.plan;
	m->accepted = (struct group_share){ 0 }; /* no share to take back */
	if (m->refusal_logged != m->asked.plan)
		log_line("sensor %s: does not take its share of group %s: %s", s->name,
			 m->group ? m->group->name : "", text);
	m->refusal_logged = m->asked.plan;
}

static void ask(struct groups *g, struct group_member *m, uint64_t now_ns)
{
	char text[WIRE_ORDER_TEXT_MAX + 1] = "set channels";

	if (m->share.plan)
		snprintf(text, sizeof(text), "set channels %s share %u/%u", m->group->list,
			 m->share.member, m->share.members);
	if (commands_add(g->commands, m->sensor, text, now_ns + GROUPS_SILENT_NS, share_answered,
			 m))
		return; /* tried again at the next tick */
	m->asking = true;
	m->asked = m->share;
	m->asked_in = m->sensor->begun;
}

/* A share accepted in another session may have reached another process. */
static bool is_due(const struct group_member *m, uint64_t now_ns)
{
	bool again = m->share.plan && m->accepted_in != m->sensor->begun;

	return !m->asking && now_ns >= m->again_ns && (again || !same(&m->share, &m->accepted));
}

/* Returns whether any member's share would change. Sets the new shares if `deal`. */
static bool shares_differ(struct sensor_group *x, uint64_t now_ns, bool deal)
{
	uint32_t members = 0, at = 0;
	bool differ = false;

	x->present = 0;
	for (struct group_member *m = x->first; m; m = m->next) {
		x->present += is_present(m->sensor, now_ns);
		members += takes_part(m, now_ns);
	}
	for (struct group_member *m = x->first; m; m = m->next) {
		struct group_share share = { 0 };

		if (x->plan && takes_part(m, now_ns))
			share = (struct group_share){ x->plan, at++, members };
		differ |= !same(&share, &m->share);
		if (deal)
			m->share = share;
	}
	return differ;
}

static void group_tick(struct groups *g, struct sensor_group *x, uint64_t now_ns)
{
	bool may = !x->balanced_ns || now_ns - x->balanced_ns >= GROUPS_BALANCE_NS;

	if (shares_differ(x, now_ns, false) && may) {
		shares_differ(x, now_ns, true);
		x->balanced_ns = now_ns;
	}
	for (struct group_member *m = x->first; m; m = m->next)
		if (takes_part(m, now_ns) && is_due(m, now_ns))
			ask(g, m, now_ns);
}

/* Tells present sensors that have left all groups. */
static void leavers_tick(struct groups *g, uint64_t now_ns)
{
	for (unsigned int i = 0; i < g->sensors->count; i++) {
		struct group_member *m = g->sensors->list[i]->member;

		if (!m || m->group)
			continue;
		m->share = (struct group_share){ 0 };
		if (takes_part(m, now_ns) && is_due(m, now_ns))
			ask(g, m, now_ns);
	}
}

/* After a stall, the sensors' datagrams are still unread. Shares are not dealt before they are, as
 * sensors would seem absent. */
static void after_stall(struct groups *g, uint64_t now_ns)
{
	bool stalled = g->ticked_ns && now_ns - g->ticked_ns > GROUPS_STALL_NS;

	for (unsigned int i = 0; stalled && i < g->count; i++)
		g->list[i]->balanced_ns = now_ns;
	g->ticked_ns = now_ns;
}

int groups_tick(struct groups *g, uint64_t now_ns)
{
	if (!g->list || !g->members)
		return -1;
	after_stall(g, now_ns);
	if (now_ns >= g->next_ns) {
		g->next_ns = now_ns + GROUPS_TICK_NS;
		for (unsigned int i = 0; i < g->count; i++)
			group_tick(g, g->list[i], now_ns);
		leavers_tick(g, now_ns);
	}
	return monotonic_timeout(g->next_ns, now_ns);
}

/* ---- orders to all --------------------------------------------------------------------------- */

static bool is_held(const struct group_member *m, uint64_t now_ns)
{
	return now_ns < m->hold.asked_ns || now_ns < m->hold.until_ns;
}

void groups_hold(struct sensor *s, bool of_group, uint32_t ms, uint64_t now_ns)
{
	struct group_member *m = s->member;

	if (!m)
		return;
	m->hold.of_group = of_group || (m->hold.of_group && is_held(m, now_ns));
	m->hold.asked_ns = now_ns + ms * 1000000ULL;
}

void groups_held(struct sensor *s, bool of_group, uint32_t ms, int status, uint64_t now_ns)
{
	struct group_member *m = s->member;

	if (!m || status == COMMANDS_GIVEN_UP) /* it may be in force */
		return;
	m->hold.asked_ns = 0;
	if (status != ANSWER_DONE)
		return;
	m->hold.until_ns = now_ns + ms * 1000000ULL;
	m->hold.of_group = of_group;
	if (of_group && m->group)
		m->group->focus.until_ns = 0; /* replaced by this focus */
}

int groups_order(struct groups *g, const char *name, const struct group_order *k, uint64_t now_ns)
{
	struct sensor_group *x = find(g, name);
	int n = 0;

	if (!x)
		return -ENOENT;
	for (struct group_member *m = x->first; m; m = m->next) {
		if (!is_present(m->sensor, now_ns))
			continue;
		if (commands_add(g->commands, m->sensor, k->text, k->until_ns, k->done, k->user)) {
			commands_cancel(g->commands, k->user);
			return -ENOMEM;
		}
		if (k->focus_ms)
			groups_hold(m->sensor, true, k->focus_ms, now_ns);
		n++;
	}
	return n;
}

static void turned(void *user, struct sensor *s, int status, const char *text)
{
	struct group_member *m = user;

	m->turning = false;
	if (status <= ANSWER_DONE || m->unable_in == s->begun)
		return;
	m->unable_in = s->begun;
	log_line("sensor %s: does not follow its group: %s", s->name, text);
}

unsigned int groups_focus(struct groups *g, struct sensor_group *x, const char *channel,
			  uint32_t ms, uint64_t now_ns)
{
	unsigned int n = 0;
	char text[64];

	for (struct group_member *m = x->first; m; m = m->next)
		if (m->hold.of_group && is_held(m, now_ns) && is_present(m->sensor, now_ns))
			return 0;
	snprintf(text, sizeof(text), "focus %s %u", channel, ms);
	for (struct group_member *m = x->first; m; m = m->next) {
		if (m->turning || is_held(m, now_ns) || !is_present(m->sensor, now_ns))
			continue;
		m->turning = commands_add(g->commands, m->sensor, text, now_ns + GROUPS_FOCUS_NS,
					  turned, m) == 0;
		n += m->turning;
	}
	return n;
}
