/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KEEP_PARQUET_TEXT_H
#define KEEP_PARQUET_TEXT_H

#include "bytes.h"

/* Appends any bytes as printable UTF-8 (struct parquet_text). */
void text_put(struct bytes *out, const char *bytes, size_t len);

#endif
