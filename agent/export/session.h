/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session with the collector: set up and kept alive by the control thread, used by the
 * export thread. Set-up is repeated until it is answered (after 1 s, then up to 8 s apart, with
 * jitter); a session from which nothing was heard for 3 s while datagrams were sent is given
 * up, and the run goes on in a new one.
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "wire/info.h"
#include "wire/seal.h"

#define SESSION_SILENCE_NS 3000000000ULL
#define SESSION_INFO_REPEATS 10 /* a change is told with so many totals, as one may be lost */

struct session {
	int sock;	       /* UDP, connected, non-blocking; both threads use it */
	char peer[280];	       /* HOST:PORT, for messages */
	uint64_t run;	       /* random number of this run */
	int changed_fd;	       /* eventfd: up, down or a receipt; the export thread sleeps on it */
	const __u64 *exported; /* frames exported so far; read atomically */

	/* control thread */
	struct info info; /* what the sensor says of itself; `exported` and `change` are set here */
	struct seal_initiator initiator;
	struct seal_rx rx;
	uint64_t next_init_ns;
	unsigned int unanswered; /* INITs since the last answer */
	uint64_t bad_datagrams;	 /* neither answer nor receipt */
	bool told_silent;

	/* shared */
	pthread_mutex_t lock; /* guards what follows up to the empty line */
	bool up;
	unsigned int generation; /* rises with each session */
	struct seal_tx tx;
	uint16_t sensor_id;
	unsigned int change_due; /* how often the change is still to be told */
	size_t change_len;
	char change[INFO_LEN_MAX + 1];

	uint64_t first_send_ns; /* oldest datagram not followed by a receipt, 0: none; atomic */
	uint64_t heard;		/* highest counter of ours that the collector has; atomic */
	bool heard_final;	/* it has the final totals; atomic */
};

/* Resolves and connects; `own` and `peer_key` are copied. Returns 0, or -errno after a line. */
int session_init(struct session *s, const char *host, const char *port, const struct keypair *own,
		 const uint8_t *peer_key);
void session_free(struct session *s);

/* Control thread: takes what came; sends an INIT when one is due. Returns milliseconds until it
 * wants to be called again. */
void session_receive(struct session *s);
/* Gives the session up where it has been silent for too long, asks for one where there is none. */
int session_tick(struct session *s, uint64_t now_ns);

/* Control thread: `info` was changed while a session may live. */
void session_info_changed(struct session *s);
/* Export thread, with every totals: writes the message that tells of a change, where one is to be
 * told (INFO_MESSAGE_MAX). Returns its bytes, or 0. */
size_t session_info_due(struct session *s, uint8_t *message);

/* Export thread: copies the present session's sealing side if `generation` is not the present
 * one; from then on the copy's counter alone counts. Returns whether there is a session. */
bool session_use(struct session *s, struct seal_tx *tx, uint16_t *sensor_id,
		 unsigned int *generation);
/* Export thread: a datagram was sent, or could not be: from now on something must be heard.
 * And: an error that says nobody listens. */
void session_sent(struct session *s, uint64_t now_ns);
void session_refused(struct session *s);

#endif
