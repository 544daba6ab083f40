/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a collector has ordered, in the privileged process. In: requests of the other process, which
 * is not trusted: it has spoken to the network. Out: another filter or snaplen in force, a radio on
 * another channel, or a reason. Always holds: nothing but what --allow-control names is done, and
 * what a plan of channels (--channels) takes; a filter comes as code that is checked here as that
 * of `saluki filter` is, and its text is for people alone.
 */
#ifndef AGENT_REMOTE_PRIVILEGED_REQUESTS_H
#define AGENT_REMOTE_PRIVILEGED_REQUESTS_H

#include <stdbool.h>

#include "agent/model/handover.h"
#include "agent/tap/tap.h"

/* Takes a request of the other process on `sock` and carries it out. Returns 0 with the answer in
 * `answer` and in `changed` whether interface answer->number is another way now, or -errno where no
 * request can be taken any more. `t` is NULL with a file. */
int privileged_requests_take(struct tap *t, unsigned int allowed, int sock, struct order *answer,
			     bool *changed);
/* The same, of a request at hand. */
void privileged_requests_do(struct tap *t, unsigned int allowed, struct ordered *r,
			    struct order *answer);

#endif
