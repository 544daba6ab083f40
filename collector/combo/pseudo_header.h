/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudo-headers: what some link types have in front of the frame, and what readers demand of it.
 * Wireshark's wiretap library (pcap-common.c, the same from 1.x to 4.x) returns an error for a
 * frame whose pseudo-header is cut or wrong, and its programs stop there: the rest of the file
 * cannot be read. Such a frame must not be written.
 */
#ifndef COLLECTOR_COMBO_PSEUDO_HEADER_H
#define COLLECTOR_COMBO_PSEUDO_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether frames of this link type have a pseudo-header that must be looked at. */
bool pseudo_header_has(uint16_t linktype);
/* Whether a frame, of which `len` bytes are kept, can be read. */
bool pseudo_header_valid(uint16_t linktype, const uint8_t *frame, size_t len);

#endif
