/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensors that may send. What the collector knows of one is in struct sensor; each part belongs
 * to the stage whose header defines it. A sensor stays where it is in memory until the end, also
 * when it is not listed any more: then it has no addresses and no keys, but its ledger goes on
 * saying where its frames are. There may be 10,000: what an idle one does not need is a pointer.
 */
#ifndef COLLECTOR_MODEL_SENSORS_H
#define COLLECTOR_MODEL_SENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include <saluki/skew.h>

#include "coverage.h"
#include "collector/output/interfaces.h"
#include "ledger.h"
#include "collector/combo/linktypes.h"
#include "collector/combo/one_way.h"
#include "collector/output/output.h"
#include "collector/network/rate_limit.h"
#include "collector/combo/reassemble.h"
#include "sensors_file.h"
#include "collector/combo/turns.h"
#include "collector/network/session.h"
#include "collector/combo/forward.h"
#include "wire/info.h"
#include "wire/keys.h"

#define SENSOR_SESSIONS 3

/* Whose an address in the table is: the sensor's index, and which of its slots or sessions. Its
 * public key is there too (handshake_requests.c). */
enum sensor_kind {
	SENSOR_SLOTS = 0,
	SENSOR_SESSION = 1, /* and the next SENSOR_SESSIONS - 1 */
	SENSOR_KEY = SENSOR_SESSION + SENSOR_SESSIONS,
	SENSOR_KINDS = 8,
};
#define SENSOR_OWNER(index, kind) (((uint32_t)(index) + 1) * SENSOR_KINDS + (kind))
#define SENSOR_OWNER_INDEX(owner) ((owner) / SENSOR_KINDS - 1)
#define SENSOR_OWNER_KIND(owner) ((owner) % SENSOR_KINDS)

/* What a sensor said of itself, as it came: taken apart (wire/info.h) where it is needed. */
struct sensor_info {
	uint16_t len;
	char *text; /* NULL: nothing yet */
};

/* FLOOR: what is missing below `combo` will not come. It counts as missing when all before it is
 * taken. */
struct past {
	uint64_t combo, first;
	int (*gone)(struct ledger *, uint64_t); /* NULL: there is none */
};

struct sensor {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	uint32_t index; /* of it in the list */
	bool listed;	/* in the sensors file as it was read last */
	uint8_t public[KEY_LEN], preshared[KEY_LEN];
	bool one_way;		    /* it may have one-way sessions */
	uint16_t group;		    /* of the file, from 1; 0: it is in none */
	struct linktypes linktypes; /* that it may send */

	/* handshake.c */
	uint8_t pair[KEY_LEN];
	uint64_t slots_of;     /* interval whose slots, and both neighbours', are in the table */
	uint32_t spent[3];     /* bits: slots of interval i that are not, at i % 3 */
	uint64_t announced_ns; /* protocol time in its last one-way m1 */
	bool refused_one_way;  /* that was said */
	uint8_t said_version;  /* of the protocol, in its last m1 */
	struct rate_limit requests; /* handshake_requests.c */
	uint32_t cookies_used; /* handshake_requests.c: set-ups under cookies; each makes its others
				  void */
	uint64_t key_word;     /* where its public key is in the table */
	uint64_t earlier_run;  /* session.c: that the present one took the place of */

	/* session.c; which of `sessions`, -1: none */
	struct session sessions[SENSOR_SESSIONS];
	int8_t current, candidate, old; /* the candidate becomes current when it is used */
	uint64_t renewed_ns;		/* monotonic, of the last RENEW that was worth work */
	uint64_t old_until_ns;		/* monotonic: then `old` ends */
	struct sensor *old_next;	/* in the list of those whose `old` will end */
	bool old_listed;
	uint64_t begun;	   /* sessions that began by set-up */
	uint64_t heard_ns; /* monotonic, of its last authentic datagram */

	/* session_receive.c, session_send.c, messages.c */
	struct sensor_info info;
	uint64_t change;		     /* number of the change that `info` is as of */
	struct skew skew;		     /* what was said of its clock */
	unsigned int unacked;		     /* datagrams heard since the last ACK */
	uint64_t due_ns;		     /* monotonic: when an ACK is due; 0: none is */
	struct sensor *due_next, **due_link; /* in the list of those; link NULL: not in it */
	bool final_heard, final_confirmed;

	struct one_way overdue; /* one_way.c */

	struct commands_order *order; /* commands.c: that is on its way; NULL: none */
	struct group_member *member;  /* groups.c: NULL: it never was in a group */

	struct rate_limit_messages ration; /* session_receive.c */
	struct rate_limit_skips skips;	   /* session_receive.c */
	struct turn serve;		   /* turns.c */
	struct past past;		   /* split.c */
	bool waiting;			   /* runs.c: its present session's run begins later */
	bool no_room;			   /* a piece was refused since the last ACK: ACK_FULL */
	uint64_t disk_spent;		   /* budget.c: bytes */
	uint64_t disk_wrote_ns;		   /* budget.c: monotonic; 0: never */
	struct output_sensor output;	   /* what is settled; runs that are known: written.h */
	struct reassembly reassembly;
	struct ledger ledger;
	struct interfaces interfaces;
	uint8_t refused_told;	      /* frame_check.h: bits, of what was said */
	struct event_log_names names; /* event_log.h: of modules that it was the first to use */
	struct coverage *coverage;    /* of the present run; NULL: it samples no channels */
	struct forward spooled;
};

struct sensors {
	struct sensor **list;
	unsigned int count;
	struct sensor *due;		     /* with an ACK to send */
	struct sensor *old_first, *old_last; /* with an old session that will end */
};

/* Makes the list what a file says. A sensor is known by its id: one that is there already stays as
 * it is, and is told to `changed` only where its key, or whether it is listed, is another than
 * before (its new keys are in it by then). Returns 0 or -ENOMEM, and then nothing has changed. */
int sensors_apply(struct sensors *s, const struct sensors_file *f,
		  void (*changed)(void *user, struct sensor *s), void *user);
void sensors_free(struct sensors *s);
/* NULL where there is none of that name that is listed. */
struct sensor *sensors_by_name(struct sensors *s, const char *name);

/* Whether nothing can be told to the sensor, so that it can keep nothing for us. */
static inline bool sensor_is_one_way(const struct sensor *s)
{
	return s->current >= 0 && s->sessions[s->current].one_way;
}

/* An ACK to this sensor is due at `at_ns` (CLOCK_MONOTONIC), or sooner where it was so before. To
 * be called by whoever moves `settled`. */
void sensors_due(struct sensors *list, struct sensor *s, uint64_t at_ns);
void sensors_not_due(struct sensor *s);
/* What the sensor says of itself from now on. Returns 0 or -ENOMEM. */
int sensor_info_set(struct sensor *s, const void *text, size_t len);

#endif
