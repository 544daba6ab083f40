/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 3: commands from the privileged process, the session with the collector. */
#ifndef AGENT_CONTROL_CONTROL_H
#define AGENT_CONTROL_CONTROL_H

#include <stdbool.h>

#include "agent/capture/capture.h"
#include "agent/model/statistics.h"
#include "agent/export/export.h"
#include "common/skew.h"
#include "connection_report.h"
#include "lookup.h"
#include "loss_report.h"
#include "ring_estimate.h"
#include "status_line.h"
#include "agent/export/session.h"
#include "agent/radio/sampler.h"
#include "agent/remote/commands.h"

struct control {
	int privileged; /* socket to that process */
	int done_fd;	/* eventfd: the export thread has ended */
	int generation; /* generation.h; -1: none */
	struct session *session;
	struct capture *capture;
	struct exporter *exporter;
	struct shared_statistics *board;
	struct lookup lookup;
	struct ring_estimate room;
	struct loss_report loss;
	struct connection_report connection;
	struct status_line status;
	struct skew skew;
	struct commands orders;	 /* of the collector */
	struct sampler *sampler; /* NULL: no channel sampling */
	uint32_t snaplen;
	bool watched;	      /* the privileged process wants a count each second */
	bool collector_ended; /* the local one; the end was asked for */
};

/* Introduces the threads to one another: `c->privileged` and `c->orders` are made. Returns 0 or
 * -errno. */
int control_init(struct control *c, struct capture *capture, struct exporter *e,
		 const struct handover *h, const struct capture_options *o);
void control_free(struct control *c);
/* Runs until the export thread has ended. */
void control_loop(struct control *c);
/* Prints the sensor's ledger. */
void control_report(struct exporter *e);

#endif
