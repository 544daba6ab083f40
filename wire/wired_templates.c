// SPDX-License-Identifier: GPL-2.0
/* Wired templates, what both ends share: see wired_templates.h and wired_expect.h. */
#include "wired_templates.h"

#include <string.h>

#include "wired_expect.h"

#define BYTES2(at) [WIRED_L3_MAX + (at)] = 0xff, [WIRED_L3_MAX + (at) + 1] = 0xff
#define BYTES4(at) BYTES2(at), BYTES2((at) + 2)
#define BYTES8(at) BYTES4(at), BYTES4((at) + 4)
#define V4 BYTES4(2), BYTES2(10) /* length and id, checksum */
#define V6 BYTES2(4)		 /* payload length */
#define ICMP(l4) BYTES2((l4) + 2), BYTES2((l4) + 6)
#define UDP(l4) BYTES4((l4) + 4)
#define TCP(l4)                                                                                    \
	BYTES8((l4) + 4), BYTES2((l4) + 14), BYTES2((l4) + 16), [WIRED_L3_MAX + (l4) + 13] = 0xff
#define STAMPS(l4) BYTES8((l4) + WIRED_STAMPS_AT)

const uint8_t wired_fields[2 * WIRED_V6][WIRED_L3_MAX + WIRED_HEAD_MAX] = {
	[WIRED_IP] = { V4 },
	[WIRED_ICMP] = { V4, ICMP(WIRED_V4_LEN) },
	[WIRED_UDP] = { V4, UDP(WIRED_V4_LEN) },
	[WIRED_TCP] = { V4, TCP(WIRED_V4_LEN) },
	[WIRED_TCP_STAMPS] = { V4, TCP(WIRED_V4_LEN), STAMPS(WIRED_V4_LEN) },
	[WIRED_V6 | WIRED_IP] = { V6 },
	[WIRED_V6 | WIRED_ICMP] = { V6, ICMP(WIRED_V6_LEN) },
	[WIRED_V6 | WIRED_UDP] = { V6, UDP(WIRED_V6_LEN) },
	[WIRED_V6 | WIRED_TCP] = { V6, TCP(WIRED_V6_LEN) },
	[WIRED_V6 | WIRED_TCP_STAMPS] = { V6, TCP(WIRED_V6_LEN), STAMPS(WIRED_V6_LEN) },
};

void wired_templates_reset(struct wired_templates *t, uint16_t max)
{
	memset(t, 0, offsetof(struct wired_templates, list));
	t->max = max;
}
