/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Window: the messages that `saluki-kafka put` has not confirmed. In: messages of sink.c. Out:
 * their bytes, in order, for each connection again. Always holds: messages of one sensor leave in
 * the order in which they came, and all have at most WINDOW_BYTES together. A sensor may have as
 * many bytes as are free: one sensor alone has half of the window, and a hundred have a hundredth
 * each (Choudhury and Hahne, "Dynamic queue length thresholds", ToN 1998, with alpha 1).
 */
#ifndef COLLECTOR_SINK_WINDOW_H
#define COLLECTOR_SINK_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/put.h"

#define WINDOW_BYTES (64u << 20)
#define WINDOW_SLOTS 65536 /* most messages */

struct sensor;

/* A message. */
struct window_entry {
	struct window_entry *next, *before;	  /* of all that may be sent, in order */
	struct window_entry *of_next, *of_before; /* of the part, in order */
	struct sensor *sensor;			  /* NULL: none */
	struct window_part *part;		  /* of this sensor; NULL: it has none */
	uint64_t number;			  /* in its bytes */
	uint64_t put_ns;			  /* monotonic */
	uint64_t run, count, first;		  /* of a combo */
	uint32_t frames, refused;		  /* of a combo; `refused` of its frames */
	bool combo, record;
	bool in_part; /* in the part's list: a message of PUT_COMBOS */
	bool waits;   /* for the sensor's record, so it is not in the list of all */
	uint32_t len; /* of `bytes` */
	uint8_t bytes[];
};

/* A sensor's part of the window. */
struct window_part {
	struct window_entry *first, *last; /* its messages of PUT_COMBOS */
	size_t bytes;			   /* of all its messages */
};

struct window {
	struct window_entry *first, *last; /* those that may be sent */
	struct window_entry *unsent;	   /* the first one that this connection has not had */
	struct window_entry **slots;	   /* WINDOW_SLOTS, by the low bits of numbers */
	uint32_t *free;			   /* numbers of free slots */
	uint32_t count;			   /* of used slots */
	uint64_t serial;
	size_t bytes;
};

/* Returns 0 or -ENOMEM. */
int window_init(struct window *w);
void window_free(struct window *w);
/* Whether there is room for any message; and for one of a sensor. */
bool window_is_full(const struct window *w);
bool window_has_room(const struct window *w, const struct window_part *part);
/* Appends a message, whose number and time are filled in. The time is this machine's: a sensor's
 * clock may be wrong, and then the brokers would refuse its frames, or delete them at once. Returns
 * NULL without memory or slot. The caller sets what is not about the list. `waits`: it may not be
 * sent before window_release(). */
struct window_entry *window_add(struct window *w, struct window_part *part, struct put *p,
				bool waits);
/* Lets the sensor's waiting messages go. */
void window_release(struct window *w, struct window_part *part);
/* Returns the part's first combo, or NULL. */
const struct window_entry *window_first_combo(const struct window_part *part);
/* Returns the message of this number, or NULL. */
struct window_entry *window_find(const struct window *w, uint64_t number);
/* Removes it, and frees it. */
void window_remove(struct window *w, struct window_entry *e);
/* A new connection gets all messages again. */
void window_again(struct window *w);

#endif
