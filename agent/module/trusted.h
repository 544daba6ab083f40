/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trusted: files that say what is allowed. Opens one that nobody but root, and who runs this, can
 * have written: the file and each folder above it are owned by one of the two and cannot be written
 * by others, as sshd's StrictModes wants it. A folder with the sticky bit (/tmp) is taken: what is
 * in it, and is not theirs, others cannot replace.
 */
#ifndef AGENT_MODULE_TRUSTED_H
#define AGENT_MODULE_TRUSTED_H

#include <stdbool.h>

/* Opens it for reading; `secret`: nobody but its owner may read it either. Each part of the path is
 * looked at on its way, so it is the file that was looked at that is opened. Returns a descriptor,
 * or -errno after a line. */
int trusted_open(const char *path, bool secret);

#endif
