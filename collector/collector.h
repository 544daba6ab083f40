/* SPDX-License-Identifier: GPL-2.0 */
/* The unprivileged process of saluki-collector: keys, network, and all that becomes of datagrams.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "control.h"
#include "decompress.h"
#include "dispatch.h"
#include "groups.h"
#include "open.h"
#include "options.h"
#include "orders.h"
#include "output.h"
#include "receive.h"
#include "refocus.h"
#include "sensors.h"

struct collector {
	const struct collector_options *o;
	struct receive receive;
	struct sensors_file sensors_file; /* until the sensors are made of it */
	struct sensors sensors;
	struct decompress decompress;
	struct output output;
	struct open open;
	struct dispatch dispatch;
	struct groups groups;
	struct refocus refocus;
	struct control control;
	struct orders orders; /* from the privileged process */
	int files;	      /* socket to it */
	int listener;	      /* of the control socket, -1: none */
	uint64_t next_stats_ns;
};

/* Gives privilege up and receives until it is told to stop. The options, the key (open.meet.own),
 * the sensors file and all descriptors are there, the rest is zeroed. Returns the exit status. */
int collector_process(struct collector *c);

#endif
