/* SPDX-License-Identifier: GPL-2.0 */
/* A network interface as rtnetlink(7) tells of it: its state now, and every change. */
#ifndef AGENT_INTERFACE_INTERFACE_STATE_H
#define AGENT_INTERFACE_INTERFACE_STATE_H

#include <stdbool.h>

struct interface_state {
	int ifindex;  /* 0: there is no such interface */
	int linktype; /* LINKTYPE_, -1 where Saluki does not capture this type */
	int arphrd;   /* ARPHRD_ as the kernel has it */
	bool up;
	bool carrier; /* and frames can come: the other end of the cable is there; or not known */
	unsigned int mtu;
	bool strips_vlan; /* the card takes VLAN tags off: rx-vlan-offload */
};

/* In one word, for people: "up", "no carrier", "down" or "absent". */
const char *interface_state_word(const struct interface_state *s);
/* Returns 0 with the state of interface `name`, -errno where asking failed. */
int interface_state_query(const char *name, struct interface_state *s);
/* Brings it up, or takes it down. Returns 0, also where it was so already, or -errno. */
int interface_state_set_up(const char *name, bool up);
/* Returns how many queues an interface receives by, at least 1: those in use, or where its driver
 * does not tell, those it has at most. */
unsigned int interface_state_receive_queues(const char *name);
/* Returns how many tc filters hang in the interface's clsact qdisc, both ways, or -errno. */
int interface_state_tc_filters(int ifindex);
/* Returns a socket that becomes readable when any interface changes, or -errno. */
int interface_state_watch_open(void);
/* Reads what came; whatever it was, interface_state_query tells the present state. */
void interface_state_watch_drain(int fd);

#endif
