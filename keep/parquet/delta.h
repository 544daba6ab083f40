/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KEEP_PARQUET_DELTA_H
#define KEEP_PARQUET_DELTA_H

#include "bytes.h"

/* Appends integers as DELTA_BINARY_PACKED (Encodings.md): good for those that ascend. */
void delta_put(struct bytes *out, const int64_t *x, uint32_t n);

#endif
