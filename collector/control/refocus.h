/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refocus: if a frame of any sensor in a group matches an expression, the group's sensors go to the
 * frame's channel for a time. In: rules of the sensors file; frames and dwells as they are taken.
 * Out: groups_focus. Always holds: without rules, nothing here is called. All rules of a group
 * together order at most once in REFOCUS_AGAIN_NS, and their expressions do not run in between.
 * During a rule's focus, matching frames of other channels change nothing. Old frames never do. No
 * frame changes an operator's focus. So a hostile sensor can move its group by invented frames, but
 * can do no more.
 */
#ifndef COLLECTOR_CONTROL_REFOCUS_H
#define COLLECTOR_CONTROL_REFOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include "expression.h"
#include "groups.h"

#define REFOCUS_AGAIN_NS 1000000000ULL
#define REFOCUS_UNFIT_NS 20000000ULL  /* pause after a match without effect */
#define REFOCUS_OLD_NS 10000000000ULL /* age of a frame, or wait for a dwell */

struct refocus_rule {
	struct sensor_group *group;
	const struct expression *expression;
	uint32_t ms;
	uint64_t again_ns; /* monotonic: not matched before */
	/* The sensor of a matching frame without a channel: its next dwell of this interface has
	 * the channel. NULL: none. */
	const struct sensor *asked;
	uint64_t asked_ns; /* monotonic: when it was noted */
	uint8_t interface;
};

/* An expression compiled at the start, and its text. */
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

/* Compiles the expressions of the file at `path`. Call it before system calls are limited. Returns
 * 0, or -errno after a line. */
int refocus_init(struct refocus *r, struct groups *g, struct combos *c, const struct groups_file *f,
		 const char *path);
void refocus_free(struct refocus *r);
/* Checks that a reloaded file has only expressions known from the start, as new ones cannot be
 * compiled any more. Otherwise logs a line. */
bool refocus_knows(const struct refocus *r, const struct groups_file *f, const char *path);
/* Applies the file's rules. Call groups_apply() first. */
void refocus_apply(struct refocus *r, const struct groups_file *f);
/* Takes a frame or an event: `framed` of combos.h. */
void refocus_framed(void *user, struct sensor *s, const struct combo_frame *f,
		    const struct combo_event *e, uint64_t now_ns);

#endif
