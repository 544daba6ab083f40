// SPDX-License-Identifier: GPL-2.0
/* Wired templates, what both ends share: see wired_templates.h and wired_expect.h. */
#include "wired_templates.h"

#include <string.h>

#include "wired_expect.h"

/* `n` bytes from `at` on, in the two members of wired_bits; without those beyond WIRED_HEAD_MAX. */
#define ONES(n) ((1ull << (n)) - 1)
#define LOW(at, n) ((at) < 64 ? ONES(n) << (at) % 64 : 0)
#define HIGH(at, n) ((at) < 64 ? ONES(n) >> 1 >> (127 - (at)) % 64 : ONES(n) << (at) % 64)

/* The fields of headers, each with the offset where the IP header or the one behind it begins. */
#define V4(l3, BITS) (BITS((l3) + 2, 4) | BITS((l3) + 10, 2)) /* length and id, checksum */
#define V6(l3, BITS) BITS((l3) + 4, 2)			      /* payload length */
#define ICMP(l4, BITS) (BITS((l4) + 2, 2) | BITS((l4) + 6, 2))
#define UDP(l4, BITS) BITS((l4) + 4, 4)
#define TCP(l4, BITS) (BITS((l4) + 4, 8) | BITS((l4) + 13, 5))
#define STAMPS(l4, BITS) (TCP(l4, BITS) | BITS((l4) + WIRED_STAMPS_AT, 8))
#define NONE(l4, BITS) 0

#define AT_V4(l3, L4, BITS) (V4(l3, BITS) | L4((l3) + WIRED_V4_LEN, BITS))
#define AT_V6(l3, L4, BITS) (V6(l3, BITS) | L4((l3) + WIRED_V6_LEN, BITS))
#define MASKS(IP, l3, L4, at, n)                                                                   \
	{                                                                                          \
		{ IP(l3, L4, LOW), (uint32_t)(IP(l3, L4, HIGH)) }, LOW((l3) + (at), n)             \
	}
/* In the order of wired_masks_of. */
#define ALL(IP, L4, at, n)                                                                         \
	{                                                                                          \
		MASKS(IP, 18, L4, at, n), MASKS(IP, 22, L4, at, n),                                \
			MASKS(IP, WIRED_L3_MAX, L4, at, n), MASKS(IP, 14, L4, at, n)               \
	}
/* Ports are right behind the addresses. */
#define ADDRESSES_V4(L4) ALL(AT_V4, L4, 12, 8)
#define FLOW_V4(L4) ALL(AT_V4, L4, 12, 8 + 4)
#define ADDRESSES_V6(L4) ALL(AT_V6, L4, 8, 32)
#define FLOW_V6(L4) ALL(AT_V6, L4, 8, 32 + 4)

const struct wired_masks wired_masks[2 * WIRED_V6][4] = {
	[WIRED_IP] = ADDRESSES_V4(NONE),
	[WIRED_ICMP] = ADDRESSES_V4(ICMP),
	[WIRED_UDP] = FLOW_V4(UDP),
	[WIRED_TCP] = FLOW_V4(TCP),
	[WIRED_TCP_STAMPS] = FLOW_V4(STAMPS),
	[WIRED_V6 | WIRED_IP] = ADDRESSES_V6(NONE),
	[WIRED_V6 | WIRED_ICMP] = ADDRESSES_V6(ICMP),
	[WIRED_V6 | WIRED_UDP] = FLOW_V6(UDP),
	[WIRED_V6 | WIRED_TCP] = FLOW_V6(TCP),
	[WIRED_V6 | WIRED_TCP_STAMPS] = FLOW_V6(STAMPS),
};

/* Moves `*l3` behind an MPLS label. Returns the EtherType of what is there: behind the last label,
 * its first bits are the IP version. */
static uint32_t behind_label(const uint8_t *bytes, uint32_t *l3, uint32_t type)
{
	bool is_last = bytes[*l3 + 2] & 1;

	*l3 += 4;
	if (!is_last)
		return type;
	return bytes[*l3] >> 4 == 4 ? 0x0800 : bytes[*l3] >> 4 == 6 ? 0x86dd : 0;
}

/* The same for PPPoE. */
static uint32_t behind_pppoe(const uint8_t *bytes, uint32_t *l3)
{
	uint16_t protocol = load_be16(bytes + *l3 + 6);

	*l3 += 8;
	return protocol == 0x0021 ? 0x0800 : protocol == 0x0057 ? 0x86dd : 0;
}

uint32_t wired_l3(const uint8_t *bytes, uint32_t *type)
{
	uint32_t l3 = 14;

	for (;;) {
		if ((*type == 0x8100 || *type == 0x88a8) && l3 + 4 <= WIRED_L3_MAX) {
			*type = load_be16(bytes + l3 + 2);
			l3 += 4;
		} else if ((*type == 0x8847 || *type == 0x8848) && l3 + 4 <= WIRED_L3_MAX) {
			*type = behind_label(bytes, &l3, *type);
		} else if (*type == 0x8864 && l3 + 8 <= WIRED_L3_MAX) {
			*type = behind_pppoe(bytes, &l3);
		} else {
			return l3;
		}
	}
}

void wired_templates_reset(struct wired_templates *t, uint16_t max)
{
	memset(t, 0, offsetof(struct wired_templates, list));
	t->max = max;
}
