/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudo-header: checks the header that some link types have before the frame, as readers do.
 * Wireshark's wiretap library (pcap-common.c, unchanged from 1.x to 4.x) returns an error for a
 * frame with a truncated or wrong pseudo-header, and its programs stop there. The rest of the file
 * cannot be read, so such a frame must not be written.
 */
#ifndef COLLECTOR_COMBO_PSEUDO_HEADER_H
#define COLLECTOR_COMBO_PSEUDO_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether frames of this link type have a pseudo-header that must be checked. */
bool pseudo_header_has(uint16_t linktype);
/* Whether readers accept a frame with `len` kept bytes. */
bool pseudo_header_valid(uint16_t linktype, const uint8_t *frame, size_t len);

#endif
