/* SPDX-License-Identifier: GPL-2.0 */
/* Table: the values of the slot table that depend on all slots. In: slots. Out: the rest of the
 * table. */
#ifndef AGENT_MODULE_TABLE_H
#define AGENT_MODULE_TABLE_H

#include <saluki/slots.h>

void module_table_sum(struct saluki_slot_table *t);

#endif
