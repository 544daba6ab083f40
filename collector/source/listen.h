/* SPDX-License-Identifier: GPL-2.0 */
/* Source, the socket: makes --source. In: its path. Out: a listener, for the receiving process. */
#ifndef COLLECTOR_SOURCE_LISTEN_H
#define COLLECTOR_SOURCE_LISTEN_H

#define SOURCE_GROUP "saluki-kafka"

/* For the privileged process: makes the socket, for the group SOURCE_GROUP if there is one. Returns
 * a descriptor, or -errno after a line. */
int source_listen(const char *path);

#endif
