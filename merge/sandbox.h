/* SPDX-License-Identifier: GPL-2.0 */
/* Sandbox: what the merge may do once its files are open. It reads what strangers have sent. */
#ifndef MERGE_SANDBOX_H
#define MERGE_SANDBOX_H

/* `folder`: where further files of a series are made; NULL: the output is one file. Returns 0, or
 * -errno after a line. */
int sandbox_merge(const char *folder);

#endif
