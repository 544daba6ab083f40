// SPDX-License-Identifier: GPL-2.0
/* EtherTypes: see network.h. */
#include "network.h"

#include <stddef.h>

#include "bpf/parse_network.h"

#define TAGS_MAX 20 /* and as many labels */
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define MPLS_BOTTOM 1
#define SNAP_LEN 8

static int is_tag(unsigned int type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static int is_mpls(unsigned int type)
{
	return type == 0x8847 || type == 0x8848;
}

static void set(struct dissection *d, unsigned int type)
{
	d->ethertype = type;
	d->has |= DISSECT_ETHERTYPE;
}

/* After the last label comes IP, by its first nibble, or something without a type. */
static void after_mpls(struct dissection *d, const struct frame *f, unsigned int off,
		       unsigned int type)
{
	const unsigned char *p;

	for (int i = 0; i < TAGS_MAX; i++, off += 4) {
		p = frame_at(f, off, 5);
		if (!p)
			return;
		if (p[2] & MPLS_BOTTOM) {
			set(d, p[4] >> 4 == 4	? ETHERTYPE_IPV4
			       : p[4] >> 4 == 6 ? ETHERTYPE_IPV6
						: type);
			return;
		}
	}
}

/* Returns a SNAP header whose OUI encapsulates Ethernet, or NULL. `len`: bytes to its frame's end.
 */
static const unsigned char *snap(const struct frame *f, unsigned int off, unsigned int len)
{
	const unsigned char *p = frame_at(f, off, SNAP_LEN);
	bool ethernet = p && !p[3] && !p[4] && (p[5] == 0 || p[5] == 0xf8);

	return ethernet && len >= SNAP_LEN && llc_is_snap(p) ? p : NULL;
}

void network_ethertype(struct dissection *d, const struct frame *f, unsigned int off,
		       unsigned int type)
{
	const unsigned char *p;

	for (int i = 0; i < TAGS_MAX && is_tag(type); i++, off += 4) {
		p = frame_at(f, off, 4);
		if (!p)
			return;
		type = parse_be16(p + 2);
	}
	if (type < ETHERTYPE_MIN) { /* a length, in a tag too */
		p = snap(f, off, type);
		if (p)
			set(d, parse_be16(p + 6));
	} else if (is_mpls(type)) {
		after_mpls(d, f, off, type);
	} else {
		set(d, type);
	}
}

void network_llc(struct dissection *d, const struct frame *f, unsigned int off, unsigned int len)
{
	const unsigned char *p = snap(f, off, len);
	unsigned int type;

	if (!p)
		return;
	type = parse_be16(p + 6);
	if (type < ETHERTYPE_MIN) /* SNAP has types only */
		set(d, type);
	else
		network_ethertype(d, f, off + SNAP_LEN, type);
}
