/* SPDX-License-Identifier: GPL-2.0 */
/* Interface state: a network interface's current state and changes, by rtnetlink(7). */
#ifndef AGENT_INTERFACE_INTERFACE_STATE_H
#define AGENT_INTERFACE_INTERFACE_STATE_H

#include <stdbool.h>

struct interface_state {
	int ifindex;  /* 0: no such interface */
	int linktype; /* LINKTYPE_; -1: Saluki does not capture this type */
	int arphrd;   /* the kernel's ARPHRD_ */
	bool up;
	bool carrier; /* frames can come: the cable has another end; or not known */
	unsigned int mtu;
	bool strips_vlan; /* the card removes VLAN tags: rx-vlan-offload */
};

/* Returns a word for people: "up", "no carrier", "down" or "absent". */
const char *interface_state_word(const struct interface_state *s);
/* Returns 0 with the state of interface `name`, or -errno if the query failed. */
int interface_state_query(const char *name, struct interface_state *s);
/* Brings it up, or takes it down. Returns 0, also if nothing changed, or -errno. */
int interface_state_set_up(const char *name, bool up);
/* Returns the number of receive queues, at least 1: those in use, or if the driver does not report
 * this, the maximum. */
unsigned int interface_state_receive_queues(const char *name);
/* Returns the number of tc filters in the interface's clsact qdisc, both directions, or -errno. */
int interface_state_tc_filters(int ifindex);
/* Returns a socket that becomes readable when any interface changes, or -errno. */
int interface_state_watch_open(void);
/* Reads and discards messages. Call interface_state_query for the current state. */
void interface_state_watch_drain(int fd);

#endif
