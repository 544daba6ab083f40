/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensors file's lines on groups of sensors:
 *
 *     group NAME [channels LIST] [dwell TIME]
 *     refocus NAME for TIME EXPRESSION
 *
 * LIST has channels as --channels of `saluki run` takes them, with commas, each once and all for
 * the same time. Which sensors a group has is in their own lines, by group=NAME. In: such lines.
 * Out: what groups.c and refocus.c make theirs. Always holds: a list is one that a sensor
 * understands.
 */
#ifndef COLLECTOR_MODEL_GROUPS_FILE_H
#define COLLECTOR_MODEL_GROUPS_FILE_H

#include <stddef.h>
#include <stdint.h>

#define GROUP_NAME_MAX 32
#define GROUPS_MAX 256
#define GROUP_LIST_MAX 900 /* bytes of it in an order, with its end */
#define GROUP_DWELL_US 250000
#define GROUP_DWELL_MIN_US 5000
#define REFOCUS_MAX 32	     /* rules */
#define REFOCUS_TEXT_MAX 512 /* of an expression, with its end */

struct group_line {
	char name[GROUP_NAME_MAX];
	unsigned int number;	   /* of the line */
	char list[GROUP_LIST_MAX]; /* as an order has it, with dwells; "": the group has no plan */
};

struct refocus_line {
	char name[GROUP_NAME_MAX];
	uint16_t group; /* of it, from 1, once the file was read */
	unsigned int number;
	uint32_t ms;
	char expression[REFOCUS_TEXT_MAX];
};

struct groups_file {
	struct group_line *groups;
	struct refocus_line *rules;
	unsigned int groups_count, rules_count;
	char why[256]; /* the last mistake, where it has something of the line in it */
};

/* Whether a line, by its first word, is one of these. */
int groups_file_has(const char *line);
/* Takes such a line apart, which is changed. Returns NULL or what is wrong, valid until the next.
 */
const char *groups_file_line(struct groups_file *f, char *line, unsigned int number);
/* The number of a group, from 1; 0: there is none of that name. */
unsigned int groups_file_find(const struct groups_file *f, const char *name);
/* Once all lines are there: finds the groups that rules name. Returns NULL, or what is wrong in
 * line
 * `*number`. */
const char *groups_file_check(struct groups_file *f, unsigned int *number);
void groups_file_free(struct groups_file *f);

#endif
