/* SPDX-License-Identifier: GPL-2.0 */
/* By what the loader knows the place in a capture program that a filter goes to (bpf/filter.h). As
 * a verdict, "yes". */
#ifndef SALUKI_FILTER_PLACE_H
#define SALUKI_FILTER_PLACE_H

#define FILTER_PLACE_XDP 0x5a1f17e1
#define FILTER_PLACE_SKB 0x5a1f17e2

#define FILTER_STACK 184 /* bytes of the program's stack that a filter may have */

#endif
