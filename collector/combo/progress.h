/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Progress: a sensor's word that it has sent all frames before a time (wire/progress.h). In: its
 * messages. Out: the same word to readers of the output, when all these frames are there. A sensor
 * sends it before or after the combos that it is about. Always holds: of the words that wait, the
 * oldest is kept, so that a later one cannot delay it for ever.
 */
#ifndef COLLECTOR_COMBO_PROGRESS_H
#define COLLECTOR_COMBO_PROGRESS_H

#include <stdint.h>

#include "wire/progress.h"

struct combos;
struct sensor;

/* Takes a message. */
void progress_take(struct combos *c, struct sensor *s, const struct progress *p, uint64_t now_ns);
/* Passes on what waits, if all its frames are there. */
void progress_look(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Another run begins. */
void progress_forget(struct sensor *s);

#endif
