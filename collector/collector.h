/* SPDX-License-Identifier: GPL-2.0 */
/* The unprivileged process of saluki-collector: keys, network, and all processing of datagrams.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "collector/board/board.h"
#include "collector/board/presence.h"
#include "collector/control/control.h"
#include "collector/combo/combos.h"
#include "collector/control/commands.h"
#include "collector/control/groups.h"
#include "collector/control/key_orders.h"
#include "collector/network/network.h"
#include "options.h"
#include "collector/files/signals.h"
#include "collector/live/live.h"
#include "heartbeat.h"
#include "ledgers.h"
#include "collector/output/output.h"
#include "collector/sink/sink.h"
#include "collector/network/receive.h"
#include "collector/control/refocus.h"
#include "collector/model/sensors.h"
#include "collector/source/source.h"
#include "status_line.h"

struct collector {
	const struct collector_options *o;
	struct receive receive;
	struct sensors_file sensors_file; /* until the sensors are made from it */
	struct sensors sensors;
	struct combos combos;
	struct output output;
	struct live live;
	struct sink sink; /* with --sink */
	struct ledgers ledgers;
	struct network network;
	struct commands commands;
	struct groups groups;
	struct key_orders key_orders;
	struct refocus refocus;
	struct source source; /* with --source, in place of the network */
	struct control control;
	struct signals orders; /* from the privileged process */
	int files;	       /* socket to it */
	int listener;	       /* of the control socket, -1: none */
	struct presence presence;
	struct board_writer board;
	struct board_sources shown; /* on the board */
	struct status_line status;
	struct heartbeat heartbeat;
};

/* Drops privilege and receives until a stop. The caller has set the options, the keys
 * (network.handshake), the sensors file and all descriptors, and zeroed the rest. Returns the
 * exit status. */
int collector_process(struct collector *c);

#endif
