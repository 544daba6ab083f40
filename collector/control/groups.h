/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: sensors that sample channels together. In: the sensors file's groups (groups_file.h), the
 * present sensors, their answers. Out: orders (commands.h): to each present sensor its share J of K
 * of the group's plan, so that at any time they are on different channels. On request, and by rules
 * (refocus.h), all of them get one channel for a time. Always holds: shares change only if the
 * present sensors change, at most once in GROUPS_BALANCE_NS, and not within this time after a stall
 * of the collector. A sensor that refuses its share gets none until the plan changes, or until
 * another session at least GROUPS_REFUSED_NS later; this is logged once. Rules do not move an
 * operator's focus until it ends.
 */
#ifndef COLLECTOR_CONTROL_GROUPS_H
#define COLLECTOR_CONTROL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "collector/model/groups_file.h"

#define GROUPS_SILENT_NS 15000000000ULL /* a sensor silent for so long is absent */
#define GROUPS_BALANCE_NS 2000000000ULL
#define GROUPS_TICK_NS 250000000ULL
#define GROUPS_STALL_NS 2000000000ULL /* between two ticks: nothing was received */
#define GROUPS_REFUSED_NS 60000000000ULL
#define GROUPS_FOCUS_NS 3000000000ULL /* how long a rule's order is repeated */

struct sensor_group;

/* A member's share: `member` of `members` in plan `plan`. Plan 0: the channels of the sensor's
 * command line. */
struct group_share {
	uint32_t plan;
	uint32_t member, members;
};

/* An operator's focus on a sensor. Times are monotonic. */
struct group_hold {
	uint64_t asked_ns; /* its end while no answer has come; 0: none is awaited */
	uint64_t until_ns; /* its end, if the sensor has confirmed it */
	bool of_group;	   /* it was ordered for the whole group */
};

/* A sensor that is or was in a group: `member` in struct sensor. */
struct group_member {
	struct group_member *next; /* of the group */
	struct sensor *sensor;
	struct sensor_group *group; /* NULL: it has left all groups */
	struct group_share share, asked, accepted;
	/* Numbers of sessions: in which the sensor was asked, accepted, refused, and could not
	 * focus. */
	uint64_t asked_in, accepted_in, refused_in, unable_in;
	uint64_t refused_ns;	 /* monotonic: time of the refusal */
	uint64_t again_ns;	 /* monotonic: not asked before */
	uint32_t refused;	 /* the refused plan */
	uint32_t refusal_logged; /* the plan whose refusal was logged */
	bool asking, turning;	 /* order under way: a share; a rule's focus */
	struct group_hold hold;
	struct groups *groups;
};

/* The focus that rules have set. All rules of a group share it, so that they do not compete. */
struct group_focus {
	uint64_t again_ns; /* monotonic: no order by a rule before */
	uint64_t until_ns; /* monotonic: its end */
	uint32_t mhz;	   /* its channel */
};

struct sensor_group {
	char name[GROUP_NAME_MAX];
	char list[GROUP_LIST_MAX]; /* "": no plan */
	uint32_t plan;		   /* number, unique for each list */
	unsigned int members, present;
	struct group_member *first, **end; /* in the list of sensors' order */
	uint64_t balanced_ns;		   /* monotonic, when shares were dealt; 0: not yet */
	struct group_focus focus;
	uint64_t refocused; /* focuses by rules, without prolongations */
};

struct groups {
	struct commands *commands;
	struct sensors *sensors;
	struct sensor_group **list; /* NULL: none */
	unsigned int count;
	unsigned int members; /* all members, also without a group */
	uint32_t plans;	      /* number of the last plan */
	uint64_t ticked_ns;   /* monotonic, last tick; 0: none yet */
	uint64_t next_ns;     /* monotonic: nothing is due before */
};

void groups_init(struct groups *g, struct commands *d, struct sensors *list);
/* A session was set up. */
void groups_begun(struct groups *g, struct sensor *s);
void groups_free(struct groups *g);
/* Applies the file's groups. Its sensors must be applied already. Returns 0, or -ENOMEM with the
 * groups unchanged. */
int groups_apply(struct groups *g, const struct groups_file *f);
/* Deals shares, and sends orders. Returns milliseconds until the next call; -1: no call is
 * needed. */
int groups_tick(struct groups *g, uint64_t now_ns);

/* Notes that an operator ordered a focus, for one sensor or its group. `groups_held` takes the
 * result. */
void groups_hold(struct sensor *s, bool of_group, uint32_t ms, uint64_t now_ns);
void groups_held(struct sensor *s, bool of_group, uint32_t ms, int status, uint64_t now_ns);
/* An order to all present sensors of a group. */
struct group_order {
	const char *text;
	uint32_t focus_ms; /* duration of the focus; 0: no focus */
	uint64_t until_ns; /* CLOCK_MONOTONIC: when it is given up */
	commands_done *done;
	void *user; /* of `done` */
};

/* Gives an order to all present sensors of a group; `done` is called later for each. Returns their
 * number, -ENOENT if no group has this name, or -ENOMEM. */
int groups_order(struct groups *g, const char *name, const struct group_order *k, uint64_t now_ns);
/* Orders the present sensors to a channel, by a rule. Leaves out sensors whose last such order is
 * not answered or that have an operator's focus; orders none if the operator focused the group.
 * Returns the number of orders. */
unsigned int groups_focus(struct groups *g, struct sensor_group *x, const char *channel,
			  uint32_t ms, uint64_t now_ns);

#endif
