/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of `saluki capture`: files in memory, in the formats of saluki-files(5), for one sensor and
 * its own collector. The files exist while a process has them open. */
#ifndef AGENT_LOCAL_LOCAL_KEYS_H
#define AGENT_LOCAL_LOCAL_KEYS_H

/* Descriptors, closed on exec. */
struct local_keys {
	int sensor;    /* the sensor's --key */
	int collector; /* the collector's --key */
	int sensors;   /* its --sensors */
};

/* Makes new keys and their files. Call keys_init() before. Returns 0, or -errno after a line. */
int local_keys_make(struct local_keys *k);
void local_keys_close(struct local_keys *k);

#endif
