/* SPDX-License-Identifier: GPL-2.0 */
/* Table name: what the name of a Parquet file tells, and which names capture files cannot give. */
#ifndef KEEP_PLACE_TABLE_NAME_H
#define KEEP_PLACE_TABLE_NAME_H

#include <stdbool.h>

#define TABLE_ENDING ".parquet"

/* Returns the number of a joined part (keep/compact/compact.h); 0: it is none. */
unsigned int table_part(const char *name);
/* Whether a name is UTF-8 without control characters: DuckDB reads no folder with another one. */
bool table_is_text(const char *name);
/* Returns why tables cannot have a capture file's stem as name, or NULL. */
const char *table_wrong_stem(const char *stem);

#endif
