/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 3: orders from the privileged process, the session with the collector. */
#ifndef AGENT_CONTROL_H
#define AGENT_CONTROL_H

#include <stdbool.h>

#include "capture.h"
#include "ctl.h"
#include "agent/export/export.h"
#include "room.h"
#include "agent/export/session.h"

struct control {
	int orders;  /* socket to the privileged process */
	int done_fd; /* eventfd: the export thread has ended */
	struct session *session;
	struct capture *capture;
	struct exporter *exporter;
	struct ctl_board *board;
	struct room room;
	uint32_t snaplen;
};

/* Runs until the export thread has ended. */
void control_loop(struct control *c);
/* What the collector is told of an interface. */
void control_describe(struct info_interface *f, const struct handover_interface *h,
		      uint32_t snaplen);
/* Prints the ledger of this end. */
void control_report(struct exporter *e);

#endif
