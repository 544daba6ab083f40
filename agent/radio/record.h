/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Record: the changes of --monitor to an interface, written to /run/saluki (interface/lock.h)
 * before they are made. If the run is killed, a later run undoes them. A record is locked while its
 * run is alive. Always holds: a change is in the record until it is undone. A recorded change may
 * not have happened.
 */
#ifndef AGENT_RADIO_RECORD_H
#define AGENT_RADIO_RECORD_H

#include <stdint.h>

#include "agent/interface/lock.h"

#define RECORD_CHANGES_MAX 16
#define RECORD_NAME_LEN 16 /* IFNAMSIZ */

enum record_what {
	RECORD_MADE, /* made this interface */
	RECORD_TYPE, /* changed its type from `type` */
	RECORD_DOWN, /* took it down */
};

struct record_change {
	enum record_what what;
	char name[RECORD_NAME_LEN];
	int ifindex; /* 0: not known yet */
	uint32_t wiphy;
	uint32_t type; /* NL80211_IFTYPE_ */
};

struct record {
	int fd; /* -1: only in memory */
	char path[LOCK_PATH_MAX];
	unsigned int count;
	struct record_change changes[RECORD_CHANGES_MAX]; /* in order */
};

/* Opens and locks the record of an interface, which may have a killed run's changes. Returns 0;
 * -EWOULDBLOCK if its run is alive; or another -errno if the file cannot be made: then the record
 * is only in memory. */
int record_take(struct record *r, const char *interface);
/* Adds a change. Returns 0, or -errno and has not added it. */
int record_add(struct record *r, const struct record_change *c);
/* Unlocks and removes it, after all was undone. */
void record_remove(struct record *r);
/* Unlocks it, for a later run. */
void record_leave(struct record *r);
/* Lists this network namespace's interfaces with records. Returns their number, at most `max`. */
unsigned int record_list(char out[][RECORD_NAME_LEN], unsigned int max);

#endif
