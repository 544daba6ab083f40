// SPDX-License-Identifier: GPL-2.0
/* Radiotap: see radiotap.h. */
#include "radiotap.h"

#include <errno.h>

#define HEAD 8
#define NAMESPACE (1u << 29)
#define ALL (NAMESPACE - 1) /* the fields of a present word */
#define VENDOR (1u << 30)
#define MORE (1u << 31)
#define VENDOR_HEAD 6 /* OUI 3, subspace 1, length of its fields 2; aligned to 2 */

/* By bit. FHSS, the fifth, is aligned as Linux and tshark do. */
static const struct {
	uint8_t size, align;
} fields[RADIOTAP_FIELDS] = {
	{ 8, 8 },  { 1, 1 },  { 1, 1 },	 { 4, 2 },  { 2, 2 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 2, 2 },	 { 1, 1 },  { 1, 1 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 1, 1 },	 { 1, 1 },  { 8, 4 }, { 3, 1 }, { 8, 4 },
	{ 12, 2 }, { 12, 8 }, { 12, 2 }, { 12, 2 }, { 6, 2 }, { 1, 1 }, { 4, 2 },
};

/* Finds the fields in `bits`, of one present word, from `off` on. Returns the offset after them, or
 * 0 if the walk ends here. */
static unsigned int walk(struct radiotap_header *r, unsigned int bits, unsigned int off)
{
	for (; bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctz(bits);

		if (i >= RADIOTAP_FIELDS)
			return 0;
		off = (off + fields[i].align - 1) & ~(fields[i].align - 1u);
		if (off + fields[i].size > r->len)
			return 0;
		if (!(r->has & 1u << i)) {
			r->has |= 1u << i;
			r->at[i] = off;
		}
		off += fields[i].size;
	}
	return off;
}

/* Skips a vendor's fields. */
static unsigned int skip_vendor(const struct radiotap_header *r, const uint8_t *frame,
				unsigned int off)
{
	off = (off + 1) & ~1u;
	if (off + VENDOR_HEAD > r->len)
		return 0;
	off += VENDOR_HEAD + parse_le16(frame + off + 4);
	return off <= r->len ? off : 0;
}

/* The words after the first one. A namespace's second word has no field that is known. */
static void walk_more(struct radiotap_header *r, const uint8_t *frame, unsigned int word,
		      unsigned int off)
{
	bool vendor = false;

	for (unsigned int at = HEAD; off && word & MORE; at += 4) {
		bool first = word & (NAMESPACE | VENDOR);

		if (word & VENDOR) {
			if (word & NAMESPACE)
				return;
			off = skip_vendor(r, frame, off);
			vendor = true;
		} else if (word & NAMESPACE) {
			vendor = false;
		}
		word = parse_le32(frame + at);
		if (vendor || !off)
			continue;
		if (first)
			off = walk(r, word & ALL, off);
		else if (word & ALL)
			return;
	}
}

/* Returns the offset after the present words, or 0 if they do not end inside the header. */
static unsigned int first_field(const struct radiotap_header *r, const uint8_t *frame)
{
	unsigned int off = HEAD;

	for (unsigned int word = parse_le32(frame + 4); word & MORE; off += 4) {
		if (off + 4 > r->len)
			return 0;
		word = parse_le32(frame + off);
	}
	return off;
}

/* Reads what is before the fields. */
static int begin(struct radiotap_header *r, const uint8_t *frame, size_t len)
{
	r->has = 0;
	if (len < HEAD || frame[0])
		return -EBADMSG;
	r->len = parse_le16(frame + 2);
	if (r->len < HEAD || r->len > len)
		return -EBADMSG;
	r->begin = first_field(r, frame);
	return 0;
}

int radiotap_find_first(struct radiotap_header *r, const uint8_t *frame, size_t len, int last)
{
	if (begin(r, frame, len))
		return -EBADMSG;
	if (r->begin)
		walk(r, parse_le32(frame + 4) & ((2u << last) - 1), r->begin);
	return 0;
}

int radiotap_find(struct radiotap_header *r, const uint8_t *frame, size_t len)
{
	unsigned int off, word;

	if (begin(r, frame, len))
		return -EBADMSG;
	if (!r->begin)
		return 0;
	word = parse_le32(frame + 4);
	off = walk(r, word & ALL, r->begin);
	if (word & MORE)
		walk_more(r, frame, word, off);
	return 0;
}

bool radiotap_channel(const struct radiotap_header *r, const uint8_t *frame, uint16_t *mhz,
		      uint16_t *flags)
{
	const uint8_t *p = radiotap_field(r, frame, RADIOTAP_CHANNEL);

	if (p) { /* frequency 2, flags 2 */
		*mhz = parse_le16(p);
		*flags = parse_le16(p + 2);
		return true;
	}
	p = radiotap_field(r, frame, RADIOTAP_XCHANNEL);
	if (p) { /* flags 4, frequency 2, number 1, power 1 */
		*mhz = parse_le16(p + 4);
		*flags = parse_le16(p);
	}
	return p;
}

uint16_t radiotap_frequency(const uint8_t *frame, size_t len)
{
	struct radiotap_header r;
	uint16_t mhz = 0, flags;

	if (!radiotap_find_first(&r, frame, len, RADIOTAP_XCHANNEL))
		radiotap_channel(&r, frame, &mhz, &flags);
	return mhz;
}
