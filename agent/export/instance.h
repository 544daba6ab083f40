/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instance: which machine this is, since it was started. A collector to which two machines speak
 * with one key, for an SD card was copied, knows them apart by it; a process that is started again
 * has the one of the process before.
 */
#ifndef AGENT_INSTANCE_H
#define AGENT_INSTANCE_H

#include <stdint.h>

#include "wire/tryst.h"

/* A hash, keyed with the sensor's secret key, of the kernel's boot id and of the machine id, as far
 * as they are there: nobody learns either from it. */
void instance_make(uint8_t out[TRYST_INSTANCE_LEN], const uint8_t secret[KEY_LEN]);

#endif
