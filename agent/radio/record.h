/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What --monitor has changed of an interface, written down before it is done, below /run/saluki
 * (interface/lock.h): so that a later run can undo it where this one is killed. A record is locked
 * while the run that writes it lives. Always holds: a change that was made is in the record until
 * it is undone; the other way round, what is in it need not have happened.
 */
#ifndef AGENT_RADIO_RECORD_H
#define AGENT_RADIO_RECORD_H

#include <stdint.h>

#include "agent/interface/lock.h"

#define RECORD_CHANGES_MAX 16
#define RECORD_NAME_LEN 16 /* IFNAMSIZ */

enum record_what {
	RECORD_MADE, /* this interface */
	RECORD_TYPE, /* it had another type: `type` */
	RECORD_DOWN, /* it was up */
};

struct record_change {
	enum record_what what;
	char name[RECORD_NAME_LEN];
	int ifindex; /* 0: not known yet */
	uint32_t wiphy;
	uint32_t type; /* NL80211_IFTYPE_ */
};

struct record {
	int fd; /* -1: it is in memory alone */
	char path[LOCK_PATH_MAX];
	unsigned int count;
	struct record_change changes[RECORD_CHANGES_MAX]; /* in their order */
};

/* Opens the record of an interface, which may have changes of a run that was killed, and locks it.
 * Returns 0, -EWOULDBLOCK where its run lives, or -errno: it cannot be made, and is in memory. */
int record_take(struct record *r, const char *interface);
/* Returns 0, or -errno: it is not written, and there is no such change in it. */
int record_add(struct record *r, const struct record_change *c);
/* Unlocks it, and removes it: all is undone. */
void record_remove(struct record *r);
/* Unlocks it: for a later run. */
void record_leave(struct record *r);
/* Interfaces of this network namespace that have records. Returns how many, at most `max`. */
unsigned int record_list(char out[][RECORD_NAME_LEN], unsigned int max);

#endif
