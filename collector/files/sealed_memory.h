/* SPDX-License-Identifier: GPL-2.0 */
/* Sealed memory: memory that this program writes, and that other programs can only read. */
#ifndef COLLECTOR_FILES_SEALED_MEMORY_H
#define COLLECTOR_FILES_SEALED_MEMORY_H

#include <stddef.h>

/* Makes a memory (memfd_create) and maps it at `*map`. Seals prevent resizing, and writing through
 * the descriptor (F_SEAL_FUTURE_WRITE, from Linux 5.1). Returns the descriptor, or -errno with
 * nothing made. */
int sealed_memory_make(const char *name, size_t len, void **map);

#endif
