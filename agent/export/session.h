/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session with the collector (docs/wire.md): set up, kept alive and renewed by the control
 * thread, which opens all that the collector says; used by the export thread, which seals and sends
 * all that goes there. They meet in a mailbox, guarded by one lock.
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "wire/clock_request.h"
#include "wire/info.h"
#include "wire/message.h"
#include "wire/shroud.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SESSION_SILENCE_NS 3000000000ULL
#define SESSION_RENEW_NS 120000000000ULL
#define SESSION_ACKS 32 /* that wait for the export thread; the oldest gives way */
#define SESSION_OUTBOX 16

/* What the export thread sends with. It has a copy of its own, so that it alone counts. */
struct session_path {
	unsigned int generation; /* rises with each session; 0: none yet */
	int sock;		 /* UDP, connected, non-blocking; not owned */
	struct shroud_tx tx;
	uint32_t window;
	uint16_t sensor_id;
	bool padded; /* every datagram has SHROUD_DATAGRAM_PADDED bytes */
};

struct session; /* defined below in full by the one who writes session.c */

/* ---- export thread --------------------------------------------------------------------------- */

/* Takes the present session's path where it is another one than in `p`. Returns whether there is a
 * session. */
bool session_use(struct session *s, struct session_path *p);
/* The next ACK of the session `generation`. Returns false where there is none. */
bool session_ack(struct session *s, unsigned int generation, struct ack *ack);
/* The next message that the control thread wants to be sent (HEARD, PROBE, ECHO, RENEW, INFO,
 * ANSWER) in this session. Returns its bytes, 0 where there is none. */
size_t session_outbox(struct session *s, unsigned int generation, uint8_t message[MESSAGE_MAX]);
/* Something was sent at `now_ns`: from then on silence counts. */
void session_sent(struct session *s, uint64_t now_ns);
/* The kernel says that nobody listens there. */
void session_refused(struct session *s);

#endif
