/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Select: which frames the user wants, by sensor, group, channel and expression. In: the user's
 * words, and the directory. Out: yes or no.
 */
#ifndef LIVE_SELECT_H
#define LIVE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "directory.h"
#include "common/expression.h"

#define SELECT_CHANNELS_MAX 128
#define SELECT_WHY_MAX EXPRESSION_WHY_MAX

struct select {
	char *sensors; /* names, comma between them, @GROUP for a group's; NULL: all */
	char *group;   /* NULL: all */
	uint16_t mhz[SELECT_CHANNELS_MAX];
	unsigned int channels; /* 0: all */
	struct expression expression;
	bool *wanted; /* by sensor, LIVE_SENSORS_MAX of them */
};

/* Returns 0 or -ENOMEM. */
int select_init(struct select *x);
void select_free(struct select *x);
/* Each replaces the earlier choice; "" stands for all. Returns 0. On an error, keeps the earlier
 * choice, and returns -errno with the reason in `why`. */
int select_sensors(struct select *x, const char *names);
int select_group(struct select *x, const char *name);
int select_channels(struct select *x, const char *list, char why[SELECT_WHY_MAX]);
int select_expression(struct select *x, const char *text, char why[SELECT_WHY_MAX]);
/* The directory or the choice of sensors has changed. */
void select_apply(struct select *x, const struct directory *d);
/* Whether the choice has a sensor or group that the directory does not have. Then `why` names it,
 * and a similar name. */
bool select_unknown(const struct select *x, const struct directory *d, char why[SELECT_WHY_MAX]);
/* Whether the frame is wanted. Its sensor is. */
bool select_frame(struct select *x, uint16_t linktype, const struct block *b);

#endif
