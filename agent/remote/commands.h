/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Orders of the collector (docs/wire.md), in the control thread. In: an order that a session has
 * opened, what the compiler and the privileged process say to it. Out: an answer. Always holds: one
 * order at a time, each once; it is carried out by the privileged process, in steps (a filter is
 * compiled for each interface before it is set on any), and nothing here waits.
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
#define COMMANDS_AT_ONCE 32 /* that come closer, if there were none for a while */

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

struct commands {
	unsigned int allowed; /* bits of enum order_kind */
	int privileged;	      /* socket to that process, not owned; -1 with a file */
	int compiler;	      /* socket to it; -1: there is none */
	struct source *source;
	struct commands_radios radios;
	const struct info_interface *names; /* of interfaces */
	uint32_t count;
	uint16_t linktypes[INTERFACES_MAX];
	uint32_t snaplen, snaplen_max;

	enum commands_state state;
	uint32_t interface;		 /* at which the present step is */
	uint64_t highest[SOCKETS_PEERS]; /* number of each collector's orders; 0: there was none */
	uint64_t paced_ns; /* monotonic; what has not passed since is taken up by orders */
	unsigned int peer; /* whose the present one, or the last, is */
	struct order_message order;
	struct answer_message answer; /* to the order, once the state is idle */
	/* Taken at the start, where filters are allowed: too large for a small sensor's stack. */
	struct ordered *request;
	struct compiled *compiled;
};

/* Returns 0 or -ENOMEM. `fd` is what compile_filter_start has returned, -1: it was not started. */
int commands_init(struct commands *o, unsigned int allowed, const struct handover *h,
		  int privileged, int fd);
void commands_free(struct commands *o);

/* Takes an order of collector `peer`. Returns whether there is an answer that is to be sent, which
 * is then in `out`. */
bool commands_take(struct commands *o, unsigned int peer, const struct order_message *m,
		   struct answer_message *out);
/* Return whether there is one in o->answer now. */
bool commands_compiled(struct commands *o); /* o->compiler can be read */
bool commands_result(struct commands *o, const struct order *result);
bool commands_sampled(struct commands *o); /* a radio has said something */

#endif
