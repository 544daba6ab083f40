/* SPDX-License-Identifier: GPL-2.0 */
/* Output file: opens what -w names, unless that would destroy what is searched. */
#ifndef KEEP_FIND_OUTPUT_FILE_H
#define KEEP_FIND_OUTPUT_FILE_H

/* `folder`: a descriptor of the folder that is searched. `key`: the file of --pseudonyms, or NULL.
 * A regular file is locked, so that saluki-keep leaves it alone until it is whole. Returns a
 * descriptor; -EPERM after a line if the file is in the folder, or is the key; or -errno after a
 * line. */
int output_file_open(const char *write, int folder, const char *key);

#endif
