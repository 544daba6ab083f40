/* SPDX-License-Identifier: GPL-2.0 */
/* Place: a new file, which gets its name when it is whole and on the disk. Until then it has a name
 * that no other program gives: one in a folder for each ending, as one program works there. */
#ifndef KEEP_PLACE_PLACE_H
#define KEEP_PLACE_PLACE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct place {
	int folder, fd; /* fd -1: none */
	char name[NAME_MAX + 1], new_name[32];
};

#define PLACE_NEW(ending) ".saluki-keep" ending ".new" /* the name until then */

/* Makes a file that will have this name. Returns 0 or -errno; place_drop() may follow in both
 * cases. */
int place_open(struct place *p, int folder, const char *name);
/* Writes bytes. Returns 0 or -errno. */
int place_write(const struct place *p, const uint8_t *bytes, size_t len);
/* Gives the file mode, group and times of `like`, and brings it to the disk. Returns 0 or -errno.
 */
int place_sync(const struct place *p, const struct stat *like);
/* Replaces the file of this name. Returns 0 or -errno. */
int place_put(struct place *p);
/* Removes the new file if it has no name yet. */
void place_drop(struct place *p);

#endif
