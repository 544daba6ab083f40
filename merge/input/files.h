/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files: reads the collector's files so that no sensor is late. A first pass notes where each
 * sensor's frames are: 24 bytes for an extent, which is a combo as a rule. Then each sensor's
 * frames are read in their own order, and always of the sensor that is furthest behind.
 */
#ifndef MERGE_INPUT_FILES_H
#define MERGE_INPUT_FILES_H

#include "names.h"
#include "take.h"

struct files;

/* `names`: open files, which must stay. Returns NULL without memory. */
struct files *files_open(struct take *t, struct names *names);
/* Notes what is in the files. A file counts up to its first malformed block. Returns 0, or -errno
 * after a line. */
int files_look(struct files *f);
/* Reads and sweeps everything. Calls `progress`, if it is not NULL, from time to time. Returns 0,
 * or -errno after a line. */
int files_read(struct files *f, void (*progress)(void *context, double share), void *context);
/* Returns how many frames the files say were missed. */
uint64_t files_missed(const struct files *f);
/* Makes the identity's secret: from the files' first bytes, so that the same files give the same
 * trace. Returns 0 or -ENOMEM. */
int files_secret(const struct files *f, uint8_t secret[IDENTITY_SECRET]);
void files_close(struct files *f);

#endif
