/* SPDX-License-Identifier: GPL-2.0 */
/* Marks the place for the filter in a capture program (bpf/filter.h). As a verdict it means
 * "yes". */
#ifndef SALUKI_FILTER_PLACE_H
#define SALUKI_FILTER_PLACE_H

#define FILTER_PLACE_XDP 0x5a1f17e1
#define FILTER_PLACE_SKB 0x5a1f17e2

#define FILTER_STACK 184 /* bytes of the program's stack for a filter */

#endif
