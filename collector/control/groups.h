/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups of sensors that sample channels together. In: what the sensors file says of groups
 * (groups_file.h), which sensors are heard, what they answer. Out: orders (commands.h): to each
 * that is present its share J of K of the group's plan, so that at each moment they are on
 * different channels; on demand, and by rules (refocus.h), all of them to one channel for a time.
 * Always holds: shares are dealt anew only when who is present has changed, and at most once in
 * GROUPS_BALANCE_NS, nor sooner than that behind a stall in which nobody could be heard; a sensor
 * that refuses its share has none until another plan, or until it is in another session
 * GROUPS_REFUSED_NS later, and that is said once; what an operator has focused no rule moves until
 * that is over.
 */
#ifndef COLLECTOR_CONTROL_GROUPS_H
#define COLLECTOR_CONTROL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "collector/model/groups_file.h"

#define GROUPS_SILENT_NS 15000000000ULL /* who was not heard for so long is not present */
#define GROUPS_BALANCE_NS 2000000000ULL
#define GROUPS_TICK_NS 250000000ULL
#define GROUPS_STALL_NS 2000000000ULL /* between two ticks: nobody was heard in it */
#define GROUPS_REFUSED_NS 60000000000ULL
#define GROUPS_FOCUS_NS 3000000000ULL /* for which a rule's order is repeated */

struct sensor_group;

/* What a member is to do: share `member` of `members` of plan `plan`; plan 0: what its command line
 * says. */
struct group_share {
	uint32_t plan;
	uint32_t member, members;
};

/* An operator's focus of a sensor, monotonic times. */
struct group_hold {
	uint64_t asked_ns; /* it ends then if it was carried out: no answer says that it was not */
	uint64_t until_ns; /* it ends then, and was carried out */
	bool of_group;	   /* the whole group was asked for it */
};

/* A sensor that is in a group or was: `member` in struct sensor. */
struct group_member {
	struct group_member *next; /* in the group */
	struct sensor *sensor;
	struct sensor_group *group; /* NULL: it is in none any more */
	struct group_share share, asked, told;
	/* Sessions, by their numbers: in which it was asked, told, refused and could not focus. */
	uint64_t asked_in, told_in, refused_in, unable_in;
	uint64_t refused_ns;  /* monotonic: when it refused in `refused_in` */
	uint64_t again_ns;    /* monotonic: it is not asked before */
	uint32_t refused;     /* the plan that it refused in `refused_in` */
	uint32_t said;	      /* the plan of which it was said that it is refused */
	bool asking, turning; /* a share, or a rule's focus, is on its way */
	struct group_hold hold;
	struct groups *groups;
};

/* What rules have made of a group: of all of them, so that they do not pull it to and fro. */
struct group_focus {
	uint64_t again_ns; /* monotonic: no rule orders before */
	uint64_t until_ns; /* monotonic: it is in force */
	uint32_t mhz;	   /* where, while it is */
};

struct sensor_group {
	char name[GROUP_NAME_MAX];
	char list[GROUP_LIST_MAX]; /* "": it has no plan */
	uint32_t plan;		   /* number of it, no other list's */
	unsigned int members, present;
	struct group_member *first, **end; /* in the order of the list of sensors */
	uint64_t balanced_ns;		   /* monotonic, when shares were dealt; 0: not yet */
	struct group_focus focus;
	uint64_t refocused; /* by rules; times that were only prolonged are not in it */
};

struct groups {
	struct commands *dispatch;
	struct sensors *sensors;
	struct sensor_group **list; /* NULL: there are none */
	unsigned int count;
	unsigned int members; /* all that there are, also of none of these groups */
	uint32_t plans;	      /* the last one's number */
	uint64_t ticked_ns;   /* monotonic, of the last tick; 0: there was none */
	uint64_t next_ns;     /* monotonic: nothing is to be looked at before */
};

/* Takes session_receive.h's `begun`. */
void groups_init(struct groups *g, struct commands *d, struct sensors *list);
void groups_free(struct groups *g);
/* Groups are now what the file says, which the list of sensors is of already. Returns 0, or -ENOMEM
 * and then nothing has changed. */
int groups_apply(struct groups *g, const struct groups_file *f);
/* Deals shares, and orders what is to be. Returns milliseconds until it is to be called again, -1:
 * whenever. */
int groups_tick(struct groups *g, uint64_t now_ns);

/* An operator's focus was ordered of a sensor, alone or with its group, which `groups_held` has the
 * answer to, where there is one. */
void groups_hold(struct sensor *s, bool of_group, uint32_t ms, uint64_t now_ns);
void groups_held(struct sensor *s, bool of_group, uint32_t ms, int status, uint64_t now_ns);
/* An order to all sensors of a group. */
struct group_order {
	const char *text;
	uint32_t focus_ms; /* how long the focus is to last; 0: it is none */
	uint64_t until_ns; /* CLOCK_MONOTONIC: then it is given up */
	commands_done *done;
	void *user; /* of `done` */
};

/* Gives an order to all sensors that are present. Returns their number, and calls `done` for each.
 * Returns -ENOENT if no group has this name, or -ENOMEM. */
int groups_order(struct groups *g, const char *name, const struct group_order *k, uint64_t now_ns);
/* By a rule, all that are present are to be on this channel for so long; who is still busy with the
 * one before is left out, and whom an operator has focused: of a group that he has, all. Returns
 * how many are ordered. */
unsigned int groups_focus(struct groups *g, struct sensor_group *x, const char *channel,
			  uint32_t ms, uint64_t now_ns);

#endif
