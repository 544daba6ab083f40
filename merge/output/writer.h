/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writer: writes transmissions as pcapng. An interface block is a channel; blocks of sensors'
 * interfaces, which have no packets, name the sensors. A packet block is a transmission: the bytes
 * of its best reception, its number as packet id (epb_packetid), and all receptions in our option
 * 2989 (saluki-files(5)). A reception that comes late is a further block with the number and the
 * time of its transmission. At the end, a statistics block counts each radio's receptions, and the
 * last one has the ledger.
 */
#ifndef MERGE_OUTPUT_WRITER_H
#define MERGE_OUTPUT_WRITER_H

#include "ledger.h"
#include "merge/input/sensors.h"
#include "outlet.h"
#include "pcapng/receptions.h"

#define WRITER_CHANNELS 256

struct writer {
	struct outlet *outlet;
	const struct sensors *sensors;
	const struct merge *merge;
	/* In the present file */
	bool begun;
	uint16_t mhz[WRITER_CHANNELS];
	uint32_t channels[WRITER_CHANNELS]; /* their interfaces */
	uint32_t channel_count, interfaces;
	uint32_t radios; /* described */
	/* In all files */
	int64_t first_ns, newest_ns; /* the first and the newest transmission's time */
	uint64_t transmissions;
	struct writer_radio {
		uint64_t received; /* receptions */
		uint32_t on;	   /* its interface in the present file */
	} * of;			   /* by radio */
	uint32_t radio_room;
	struct ledger ledger;
};

void writer_init(struct writer *w, struct outlet *o, const struct sensors *s,
		 const struct merge *m);
/* A struct merge_sink's function. */
int writer_take(void *writer, const struct transmission *t);
/* Writes the statistics. The ledger's input counters are set by the caller. Returns 0 or -errno
 * after a line. */
int writer_finish(struct writer *w);
void writer_free(struct writer *w);

#endif
