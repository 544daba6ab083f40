/* SPDX-License-Identifier: GPL-2.0 */
/* Days: visits the days of all tables. */
#ifndef KEEP_COMPACT_DAYS_H
#define KEEP_COMPACT_DAYS_H

/* `table` and `day` are a descriptor each; `name` is the day's folder in the table's. Returns 0 to
 * go on. */
typedef int days_visit(void *context, int table, int day, const char *table_name, const char *name);

/* Visits all days before this one, tables in turn. Returns what ended it, 0, or -errno. */
int days_visit_all(int folder, const char *const *tables, const char *before, days_visit *visit,
		   void *context);

#endif
