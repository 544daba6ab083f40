/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes to the sensors file. In: the file, locked by its folder. Out: a new file in its place.
 * Always holds: the file has all changes or none, and its other lines stay as they are.
 */
#ifndef COLLECTOR_ENROL_SENSORS_EDIT_H
#define COLLECTOR_ENROL_SENSORS_EDIT_H

#include <signal.h>
#include <sys/stat.h>

#include "collector/model/sensors_file.h"

struct sensors_edit {
	char *path; /* without symbolic links */
	int folder; /* locked; -1: none */
	char *text; /* of the file */
	size_t len;
	struct stat st;		  /* st_mode 0: there is no file */
	struct sensors_file file; /* the text's content */
	sigset_t signals;
};

/* A line to add, as text. */
struct sensors_edit_line {
	const char *name, *group; /* group: NULL: none */
	uint16_t id;
	char public[KEY_TEXT_LEN], preshared[KEY_TEXT_LEN]; /* preshared: "": none */
};

/* Waits for the lock, and reads the file; it need not exist. Until sensors_edit_close(), signals
 * do not end the program. Returns 0, or -errno after a line. */
int sensors_edit_open(struct sensors_edit *e, const char *path);
/* Sets the lines' ids. Returns 0, or -errno after a line: a name or key is invalid or taken. */
int sensors_edit_check(const struct sensors_edit *e, struct sensors_edit_line *lines, int count);
/* Return 0, or -errno after a line. */
int sensors_edit_add(struct sensors_edit *e, const struct sensors_edit_line *lines, int count);
int sensors_edit_remove(struct sensors_edit *e, char *const *names, int count);
void sensors_edit_close(struct sensors_edit *e);

#endif
