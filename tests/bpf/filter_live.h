/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces in a network namespace of their own, for what bpf_prog_test_run cannot run. */
#ifndef TESTS_FILTER_LIVE_H
#define TESTS_FILTER_LIVE_H

#include <stdint.h>

/* Makes the interfaces. Ends the process with a line where it cannot. */
void live_open(void);
/* The programs see what follows. */
void live_attach(int xdp, int tc);
/* A frame at XDP, or at tc in one piece, of any length; both return when the program has run. */
void live_xdp(const uint8_t *frame, uint32_t len);
void live_tc(const uint8_t *frame, uint32_t len);
/* An Ethernet frame at tc in pieces, of which the first has `first` bytes, 14 at least; the kernel
 * takes a VLAN tag off and puts it beside the frame. */
void live_tc_pieces(const uint8_t *frame, uint32_t len, uint32_t first);

#endif
