/* SPDX-License-Identifier: GPL-2.0 */
/* This machine's name, as a sensor's name. */
#ifndef COMMON_HOST_NAME_H
#define COMMON_HOST_NAME_H

#define HOST_NAME_LEN 32 /* as sensors' names, with the 0 byte: saluki-files(5) */

/* Characters that a sensor's name cannot have become dashes. */
void host_name(char name[HOST_NAME_LEN]);

#endif
