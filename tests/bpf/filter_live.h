/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces in a separate network namespace, for frames that bpf_prog_test_run cannot run. */
#ifndef TESTS_FILTER_LIVE_H
#define TESTS_FILTER_LIVE_H

#include <stdint.h>

/* Makes the interfaces. Ends the process with a message on failure. */
void live_open(void);
/* Attaches the programs that get the following frames. */
void live_attach(int xdp, int tc);
/* Runs a frame of any length at XDP, or at tc in one piece; both return when the program has
 * run. */
void live_xdp(const uint8_t *frame, uint32_t len);
void live_tc(const uint8_t *frame, uint32_t len);
/* Runs an Ethernet frame at tc in pieces, of which the first has `first` bytes, 14 at least. The
 * kernel removes a VLAN tag and stores it beside the frame. */
void live_tc_pieces(const uint8_t *frame, uint32_t len, uint32_t first);

#endif
