/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands: carries out the collector's orders (docs/wire.md) in the control thread. In: an order
 * from a session, answers of the compiler and the privileged process. Out: an answer. Always holds:
 * one order at a time, each once. The privileged process executes it in steps: a filter is compiled
 * for all interfaces before it is set on one. This code never waits.
 */
#ifndef AGENT_REMOTE_COMMANDS_H
#define AGENT_REMOTE_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "compile_filter.h"
#include "agent/model/handover.h"
#include "agent/export/sockets.h"
#include "agent/source/source.h"
#include "wire/info.h"
#include "wire/order.h"

#define COMMANDS_APART_NS 500000000ULL
#define COMMANDS_AT_ONCE 32 /* burst of orders after a pause */

enum commands_state {
	COMMANDS_IDLE,
	COMMANDS_TRYING,
	COMMANDS_COMPILING,
	COMMANDS_SETTING,
	COMMANDS_SAMPLING
};

/* The radios that may be ordered to channels. */
struct commands_radios {
	/* Carries out such an order; where that returns -EINPROGRESS, `sampled` returns the result,
	 * -EINPROGRESS until the radios have said. NULL: no interface has a radio. */
	int (*sample)(void *arg, const struct order_channels *c);
	int (*sampled)(void *arg);
	void *arg;
	char *said; /* by them: those that have not done it, and why; empty when they begin */
};

/* Carries out WIRE_ORDER_KEYS. NULL: this sensor does not accept it. */
struct commands_keys {
	int (*set)(void *arg, const struct order_keys *k, char *said, size_t size);
	void *arg;
};

struct commands {
	unsigned int allowed; /* bits of enum order_kind */
	int privileged;	      /* socket to that process, not owned; -1 with a file */
	int compiler;	      /* socket to the compiler; -1: none */
	struct source *source;
	struct commands_radios radios;
	struct commands_keys keys;
	const struct info_interface *names; /* of interfaces */
	uint32_t count;
	uint16_t linktypes[INTERFACES_MAX];
	uint32_t snaplen, snaplen_max;

	enum commands_state state;
	uint32_t interface;		 /* interface of the current step */
	uint64_t highest[SOCKETS_PEERS]; /* highest order number per collector; 0: none */
	uint64_t paced_ns;		 /* CLOCK_MONOTONIC: the rate limit's virtual time */
	unsigned int peer;		 /* collector of the current or last order */
	struct order_message order;
	struct answer_message answer; /* answer to the order, in state idle */
	/* Allocated at the start if filters are allowed: too large for a small sensor's stack. */
	struct ordered *request;
	struct compiled *compiled;
};

/* Returns 0 or -ENOMEM. `fd`: from compile_filter_start; -1: not started. */
int commands_init(struct commands *o, unsigned int allowed, const struct handover *h,
		  int privileged, int fd);
void commands_free(struct commands *o);

/* Takes an order of collector `peer`. Returns whether `out` has an answer to send. */
bool commands_take(struct commands *o, unsigned int peer, const struct order_message *m,
		   struct answer_message *out);
/* Return whether o->answer now has an answer. */
bool commands_compiled(struct commands *o); /* when o->compiler is readable */
bool commands_result(struct commands *o, const struct order *result);
bool commands_sampled(struct commands *o); /* when a radio has answered */

#endif
