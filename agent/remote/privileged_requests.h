/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Privileged requests: executes a collector's orders in the privileged process. In: requests of the
 * other process, which is not trusted, as it talks to the network. Out: a new filter or snaplen, a
 * radio on a new channel, or an error. Always holds: only requests that --allow-control or
 * --channels permits are executed. A filter comes as code, checked as that of `saluki filter`; its
 * text is only for people.
 */
#ifndef AGENT_REMOTE_PRIVILEGED_REQUESTS_H
#define AGENT_REMOTE_PRIVILEGED_REQUESTS_H

#include <stdbool.h>

#include "agent/model/handover.h"
#include "agent/tap/tap.h"

/* Reads and executes a request of the other process on `sock`. Returns 0 with the answer in
 * `answer`, and in `changed` whether the capture of interface answer->number changed; or -errno if
 * no more requests can be read. An answer SIGNAL_STOP is for the caller: the capture must stop. `t`
 * is NULL with a file. */
int privileged_requests_take(struct tap *t, unsigned int allowed, int sock, struct order *answer,
			     bool *changed);
/* The same for a given request. */
void privileged_requests_do(struct tap *t, unsigned int allowed, struct ordered *r,
			    struct order *answer);

#endif
