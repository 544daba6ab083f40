/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The zstd dictionary of both ends for 802.11 combos: 4 KB of common content with zstd's tables, so
 * that a small combo needs no tables of its own. A combo names it by its codec (combo.h). A new
 * dictionary will be a new codec, and this one stays as long as sensors use it.
 *
 * tests/dictionary/train.py (`make dictionary`) made dictionary_dot11.bin from the project's trace
 * of virtual radios, without channel 1, and from generated frames. All have random addresses, names
 * and counters, so it contains nothing about a real network.
 */
#ifndef WIRE_DICTIONARY_H
#define WIRE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t dictionary_dot11[], dictionary_dot11_end[];

#define DICTIONARY_DOT11_LEN ((size_t)(dictionary_dot11_end - dictionary_dot11))

#endif
