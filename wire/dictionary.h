/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The dictionary that both ends compress 802.11 combos with: 4 KB of what their bodies have in
 * common, and zstd's tables for it, so that a combo of a second need not bring its own. A combo
 * names it by its codec (combo.h); another dictionary will be another codec, and this one stays
 * as long as there are sensors that use it.
 *
 * dictionary_dot11.bin was made with tests/dictionary/train.py (`make dictionary`) from the
 * project's own trace of virtual radios without its channel 1, and from made-up frames; all with
 * random addresses, names and counters: there is nothing in it about anybody's network.
 */
#ifndef WIRE_DICTIONARY_H
#define WIRE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t dictionary_dot11[], dictionary_dot11_end[];

#define DICTIONARY_DOT11_LEN ((size_t)(dictionary_dot11_end - dictionary_dot11))

#endif
