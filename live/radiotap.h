/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIVE_RADIOTAP_H
#define LIVE_RADIOTAP_H

#include <stddef.h>
#include <stdint.h>

/* Returns the frequency in a radiotap header, which may be malformed. 0: no frequency. */
uint16_t radiotap_mhz(const uint8_t *frame, size_t len);

#endif
