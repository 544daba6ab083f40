/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refocusing by rule: where a frame of any of a group's sensors matches an expression, all of them
 * go to that frame's channel for a time. In: rules of the sensors file; frames and dwells as they
 * are taken. Out: groups_focus. Always holds: without rules nothing of it is called; all rules of a
 * group together order at most once in REFOCUS_AGAIN_NS, and in between their expressions are not
 * looked at; while one is in force, frames of other channels change nothing, whichever rule they
 * match, and no frame of long ago ever does; nothing does while an operator's focus lasts. So a
 * sensor gone bad can have its group follow such frames as it makes up, and no more than that.
 */
#ifndef COLLECTOR_CONTROL_REFOCUS_H
#define COLLECTOR_CONTROL_REFOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include "expression.h"
#include "groups.h"

#define REFOCUS_AGAIN_NS 1000000000ULL
#define REFOCUS_UNFIT_NS 20000000ULL  /* behind a match that leads to nothing */
#define REFOCUS_OLD_NS 10000000000ULL /* such a frame, or a dwell not told for so long */

struct refocus_rule {
	struct sensor_group *group;
	const struct expression *expression;
	uint32_t ms;
	uint64_t again_ns; /* monotonic: it is looked at again */
	/* A frame matched that does not say its channel: this sensor's next dwell of this interface
	 * does. NULL: none has. */
	const struct sensor *asked;
	uint64_t asked_ns; /* monotonic, since when */
	uint8_t interface;
};

/* An expression that was compiled at the start, by its text. */
struct refocus_text {
	char *text;
	struct expression *expression;
};

struct refocus {
	struct groups *groups;
	struct combos *combos;
	unsigned int rules_count, texts_count;
	struct refocus_rule rules[REFOCUS_MAX];
	struct refocus_text texts[REFOCUS_MAX];
};

/* Before system calls are limited: compiles the expressions of the file at `path`. Returns 0, or
 * -errno after a line. */
int refocus_init(struct refocus *r, struct groups *g, struct combos *c, const struct groups_file *f,
		 const char *path);
void refocus_free(struct refocus *r);
/* Whether all expressions of a file that was read again were there at the start; if not it is said,
 * for they cannot be compiled any more. */
bool refocus_knows(const struct refocus *r, const struct groups_file *f, const char *path);
/* Rules are now what the file says, whose groups are there (groups_apply). */
void refocus_apply(struct refocus *r, const struct groups_file *f);
/* A frame or an event: combos.h's `framed`. */
void refocus_framed(void *user, struct sensor *s, const struct combo_frame *f,
		    const struct combo_event *e, uint64_t now_ns);

#endif
