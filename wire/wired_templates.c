// SPDX-License-Identifier: GPL-2.0
/* Wired templates, what both ends share: see wired_templates.h and wired_expect.h. */
#include "wired_templates.h"

#include <string.h>

#include "wired_expect.h"

/* `n` bytes from `at` on, in the two members of wired_bits. */
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
		{ IP(l3, L4, LOW), IP(l3, L4, HIGH) }, LOW((l3) + (at), n)                         \
	}
#define BOTH(IP, L4, at, n)                                                                        \
	{                                                                                          \
		MASKS(IP, 14, L4, at, n), MASKS(IP, WIRED_L3_MAX, L4, at, n)                       \
	}
/* Ports are right behind the addresses. */
#define ADDRESSES_V4(L4) BOTH(AT_V4, L4, 12, 8)
#define FLOW_V4(L4) BOTH(AT_V4, L4, 12, 8 + 4)
#define ADDRESSES_V6(L4) BOTH(AT_V6, L4, 8, 32)
#define FLOW_V6(L4) BOTH(AT_V6, L4, 8, 32 + 4)

const struct wired_masks wired_masks[2 * WIRED_V6][2] = {
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

void wired_templates_reset(struct wired_templates *t, uint16_t max)
{
	memset(t, 0, offsetof(struct wired_templates, list));
	t->max = max;
}
