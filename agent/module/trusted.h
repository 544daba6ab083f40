/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trusted: opens files that decide what is allowed. Only root and the current user can have written
 * such a file: it and each folder above it belong to one of the two and are not writable by others,
 * as sshd's StrictModes demands. A folder with the sticky bit (/tmp) is accepted, as others cannot
 * replace files in it.
 */
#ifndef AGENT_MODULE_TRUSTED_H
#define AGENT_MODULE_TRUSTED_H

#include <stdbool.h>

/* Opens it for reading; `secret`: only its owner may read it. Checks each part of the path while
 * walking it, so the opened file is the checked one. Returns a descriptor, or -errno after a
 * line. */
int trusted_open(const char *path, bool secret);

#endif
