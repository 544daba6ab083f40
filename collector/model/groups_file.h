/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups' lines in the sensors file:
 *
 *     group NAME [channels LIST] [dwell TIME]
 *     refocus NAME for TIME EXPRESSION
 *
 * LIST: channels as in --channels of `saluki run`, separated by commas, each once, all for the same
 * time. A sensor's own line names its group by group=NAME. In: such lines. Out: groups and rules
 * for groups.c and refocus.c. Always holds: sensors understand each list.
 */
#ifndef COLLECTOR_MODEL_GROUPS_FILE_H
#define COLLECTOR_MODEL_GROUPS_FILE_H

#include <stddef.h>
#include <stdint.h>

#define GROUP_NAME_MAX 32
#define GROUPS_MAX 256
#define GROUP_LIST_MAX 900 /* bytes in an order, with the 0 byte */
#define GROUP_DWELL_US 250000
#define GROUP_DWELL_MIN_US 5000
#define REFOCUS_MAX 32	     /* rules */
#define REFOCUS_TEXT_MAX 512 /* bytes of an expression, with the 0 byte */

struct group_line {
	char name[GROUP_NAME_MAX];
	unsigned int number;	   /* of the line */
	char list[GROUP_LIST_MAX]; /* as in an order, with dwells; "": no plan */
};

struct refocus_line {
	char name[GROUP_NAME_MAX];
	uint16_t group; /* its number, from 1; set after the last line */
	unsigned int number;
	uint32_t ms;
	char expression[REFOCUS_TEXT_MAX];
};

struct groups_file {
	struct group_line *groups;
	struct refocus_line *rules;
	unsigned int groups_count, rules_count;
	char why[256]; /* the last mistake that quotes the line */
};

/* Returns whether a line's first word is `group` or `refocus`. */
int groups_file_has(const char *line);
/* Parses and modifies such a line. Returns NULL, or the mistake, valid until the next call.
 */
const char *groups_file_line(struct groups_file *f, char *line, unsigned int number);
/* Returns a group's number, from 1; 0: no group has this name. */
unsigned int groups_file_find(const struct groups_file *f, const char *name);
/* Finds the groups of all rules. Call it after the last line. Returns NULL, or the mistake in line
 * `*number`. */
const char *groups_file_check(struct groups_file *f, unsigned int *number);
void groups_file_free(struct groups_file *f);

#endif
