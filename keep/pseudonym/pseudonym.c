// SPDX-License-Identifier: GPL-2.0
/* Pseudonyms: see pseudonym.h. */
#include "pseudonym.h"

#include <sodium.h>
#include <string.h>

#include "wire/bytes.h"

#define ROUNDS 10
#define GROUP 1
#define LOCAL 2

_Static_assert(crypto_shorthash_KEYBYTES == 16 && crypto_shorthash_BYTES == 8, "SipHash-2-4");

static void derive(uint8_t *out, size_t len, const char *what, const uint8_t *key)
{
	crypto_generichash(out, len, (const uint8_t *)what, strlen(what), key, PSEUDONYM_KEY_LEN);
}

void pseudonyms_init(struct pseudonyms *p, const uint8_t key[PSEUDONYM_KEY_LEN])
{
	*p = (struct pseudonyms){ .addresses = 0 };
	derive(p->address_key, sizeof(p->address_key), "saluki pseudonym address", key);
	derive(p->clock_key, sizeof(p->clock_key), "saluki pseudonym clock", key);
	derive(p->ssid_key, sizeof(p->ssid_key), "saluki pseudonym SSID", key);
}

void pseudonyms_free(struct pseudonyms *p)
{
	sodium_memzero(p, sizeof(*p));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint64_t round_value(const uint8_t key[16], bool is_local, unsigned int round, uint64_t half)
{
	uint8_t in[8] = { round, is_local }, out[8];

	store_le(in + 4, half, 4);
	crypto_shorthash(out, in, sizeof(in), key);
	return load_le64(out);
}

uint64_t pseudonym_permute(const uint8_t key[16], bool is_local, uint64_t x, unsigned int half_bits)
{
	uint64_t mask = (1ULL << half_bits) - 1, left = x >> half_bits & mask, right = x & mask;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t next = (left ^ round_value(key, is_local, i, right)) & mask;

		left = right;
		right = next;
	}
	return left << half_bits | right;
}

bool pseudonym_stays(const uint8_t a[6])
{
	static const uint8_t zeros[6], broadcast[6] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t protocols[][5] = {
		{ 0x01, 0x80, 0xc2, 0, 0 }, /* IEEE 802.1: STP, LLDP, EAPOL, pause frames */
		{ 0x01, 0x00, 0x5e, 0, 0 }, /* 224.0.0.X: local network control, mDNS */
		{ 0x33, 0x33, 0x00, 0, 0 }, /* ff02::X: all nodes, routers, mDNS */
	};

	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (!memcmp(a, protocols[i], 5))
			return true;
	return !memcmp(a, zeros, 6) || !memcmp(a, broadcast, 6);
}

/* An address that would get one that stays gets that one's pseudonym instead, and so on. So this is
 * a permutation, too. */
void pseudonym_address(struct pseudonyms *p, uint8_t out[6], const uint8_t address[6])
{
	uint8_t bits = address[0] & (GROUP | LOCAL);
	uint64_t x = (uint64_t)(address[0] >> 2) << 40 | load_be(address + 1, 5);

	memmove(out, address, 6);
	if (pseudonym_stays(out))
		return;
	do {
		x = pseudonym_permute(p->address_key, bits & LOCAL, x, PSEUDONYM_HALF_BITS);
		out[0] = x >> 40 << 2 | bits;
		store_be(out + 1, x, 5);
	} while (pseudonym_stays(out));
	p->addresses++;
}

/* ---- the rest -------------------------------------------------------------------------------- */

void pseudonym_ssid(struct pseudonyms *p, uint8_t *out, const uint8_t *ssid, size_t len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t hash[2 * PSEUDONYM_SSID_MAX];

	memmove(out, ssid, len);
	if (sodium_is_zero(ssid, len))
		return;
	crypto_generichash(hash, sizeof(hash), ssid, len, p->ssid_key, sizeof(p->ssid_key));
	for (size_t i = 0; i < len; i++)
		out[i] = letters[load_be(hash + 2 * i, 2) % (sizeof(letters) - 1)];
	p->ssids++;
}

uint64_t pseudonym_clock(const struct pseudonyms *p, const uint8_t bssid[6])
{
	uint8_t out[8];

	crypto_shorthash(out, bssid, 6, p->clock_key);
	return load_le64(out);
}
