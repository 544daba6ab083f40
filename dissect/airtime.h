/* SPDX-License-Identifier: GPL-2.0 */
/* Airtime of one frame, as the module airtime computes it (bpf/modules/airtime/airtime.h). */
#ifndef DISSECT_AIRTIME_H
#define DISSECT_AIRTIME_H

#include "radio.h"

/* `mpdu_len`: bytes on the air, FCS included. */
void airtime_dissect(struct dissection *d, struct radio *r, unsigned int mpdu_len);

#endif
