/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instance: identifies this machine since its boot. With it, a collector tells two machines with
 * one key apart, for example after an SD card was copied. A restarted process has the same
 * instance.
 */
#ifndef AGENT_INSTANCE_H
#define AGENT_INSTANCE_H

#include <stdint.h>

#include "wire/tryst.h"

/* Computes a hash of the kernel's boot id and the machine id, if they exist, keyed with the
 * sensor's secret key, so that it reveals neither. */
void instance_make(uint8_t out[TRYST_INSTANCE_LEN], const uint8_t secret[KEY_LEN]);

#endif
