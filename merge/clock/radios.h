/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Radios: whose clock stamps a radio's receptions. A radio that gives a TSFT has a domain of its
 * own; the others of a sensor share one. A new run of the sensor, and a reset TSFT, begin another
 * domain. In: receptions, and what sensors say of their clocks. Out: domains, and own times.
 */
#ifndef MERGE_CLOCK_RADIOS_H
#define MERGE_CLOCK_RADIOS_H

#include "clocks.h"

struct radio {
	uint32_t sensor; /* index */
	uint32_t next;	 /* the sensor's next radio: its number + 1; 0: none */
	uint8_t number;	 /* of the sensor's radios */
	bool seen;
	bool tsft;	       /* it has a domain of its own, which follows its TSFT */
	struct domain *domain; /* NULL: nothing was taken yet */
	struct domain *before; /* of the run before, or NULL */
	unsigned int resets;   /* of its TSFT since `reset_ns`, a stamp */
	int64_t reset_ns;
};

struct radios {
	struct radio *list;
	uint32_t count, room;
	uint32_t *of; /* by sensor: its first radio's number + 1 */
	uint32_t sensor_room;
	uint64_t left; /* domains that no radio refers to any more (retire.h) */
};

/* Makes a radio of a sensor. Returns its index, or -ENOMEM. */
int64_t radios_add(struct radios *s, uint32_t sensor, uint8_t number);
void radios_free(struct radios *s);
/* Sets the reception's own time. Returns its domain, or NULL without memory. `*left`: a domain that
 * has lost receptions to it, or NULL. */
struct domain *radios_place(struct radios *s, struct clocks *c, struct reception *r,
			    struct domain **left);
/* The following are what merge.h has for a sensor. */
void radios_nothing_before(struct radios *s, uint32_t sensor, int64_t stamp_ns);
void radios_reading(struct radios *s, struct clocks *c, uint32_t sensor, int64_t monotonic_ns,
		    int64_t difference_ns, int64_t raw_ns);
void radios_ahead(struct radios *s, uint32_t sensor, int64_t ahead_ns, int64_t round_trip_ns,
		  int64_t at_ns);
void radios_new_run(struct radios *s, struct clocks *c, uint32_t sensor);
void radios_run_before(struct radios *s, struct clocks *c, uint32_t sensor);
void radios_ended(struct radios *s, uint32_t sensor);

#endif
