/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudonyms: what stands for a hardware address, an SSID or an access point's clock in files that
 * are given away. In: a key of 32 bytes, and the original. Out: the same pseudonym in each run and
 * on each machine. Without the key, nobody finds the original, nor tests a guess.
 *
 * Addresses: a permutation, so two addresses never have the same pseudonym. The 46 bits of an
 * address without its group bit and its local bit are the input of a Feistel network of 10 rounds
 * with SipHash-2-4 as round function; FF1 (NIST SP 800-38G) has as many. The local bit is a further
 * input, and the group bit is not: a station that sets the group bit of its address to signal its
 * bandwidth (IEEE 802.11-2020, 9.3.1.2) remains the same one. Both bits stay as they are.
 *
 * SSIDs: BLAKE2b with a key, as text of the same length. SSIDs of a few bytes can get the same
 * text.
 */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_H
#define KEEP_PSEUDONYM_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PSEUDONYM_KEY_LEN 32
#define PSEUDONYM_SSID_MAX 32
#define PSEUDONYM_HALF_BITS 23 /* of an address */

struct pseudonyms {
	uint8_t address_key[16], clock_key[16], ssid_key[32];
	uint64_t addresses, ssids; /* that were replaced so far */
};

/* Derives the keys. sodium_init() has been called. */
void pseudonyms_init(struct pseudonyms *p, const uint8_t key[PSEUDONYM_KEY_LEN]);
/* Wipes the keys. */
void pseudonyms_free(struct pseudonyms *p);

/* Whether an address stays: zeros, broadcast, and group addresses that are the same everywhere:
 * 01:80:c2:00:00:XX, 01:00:5e:00:00:XX and 33:33:00:00:00:XX. */
bool pseudonym_stays(const uint8_t address[6]);
void pseudonym_address(struct pseudonyms *p, uint8_t out[6], const uint8_t address[6]);
/* `len`: at most PSEUDONYM_SSID_MAX. An SSID of zeros stays: it is hidden. `out` may be `ssid`. */
void pseudonym_ssid(struct pseudonyms *p, uint8_t *out, const uint8_t *ssid, size_t len);
/* Returns what is added to the time stamps in a BSS's frames, in us modulo 2^64. */
uint64_t pseudonym_clock(const struct pseudonyms *p, const uint8_t bssid[6]);

/* The permutation of numbers of twice `half_bits` bits, for tests. */
uint64_t pseudonym_permute(const uint8_t key[16], bool is_local, uint64_t x,
			   unsigned int half_bits);

#endif
