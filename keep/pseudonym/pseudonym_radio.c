// SPDX-License-Identifier: GPL-2.0
/* Capture headers: see pseudonym_radio.h, and dissect/radio.h for the sources. */
#include "pseudonym_radio.h"

#include <saluki/linktype.h>

#include "wire/bytes.h"

/* A header's bytes are zeros, and fields are copied one by one. */
static bool keep(struct rewrite *r, uint32_t off, uint32_t n, uint32_t len)
{
	if (off > len || n > len - off)
		return false;
	memcpy(r->out + off, r->frame + off, n);
	return true;
}

/* ---- radiotap -------------------------------------------------------------------------------- */

#define HEAD 8
#define NAMESPACE (1u << 29)
#define VENDOR (1u << 30)
#define MORE (1u << 31)
#define VENDOR_HEAD 6 /* OUI 3, subspace 1, length of its fields 2; aligned to 2 */

static const struct {
	uint8_t size, align;
} fields[] = {
	{ 8, 8 },  { 1, 1 },  { 1, 1 },	 { 4, 2 },  { 2, 2 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 2, 2 },	 { 1, 1 },  { 1, 1 }, { 1, 1 }, { 1, 1 },
	{ 2, 2 },  { 2, 2 },  { 1, 1 },	 { 1, 1 },  { 8, 4 }, { 3, 1 }, { 8, 4 },
	{ 12, 2 }, { 12, 8 }, { 12, 2 }, { 12, 2 }, { 6, 2 }, { 1, 1 }, { 4, 2 },
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

/* Keeps the fields of a present word. Returns the offset behind them; 0: the walk ends here. */
static uint32_t radiotap_fields(struct rewrite *r, uint32_t word, uint32_t off, uint32_t len)
{
	for (uint32_t bits = word & (NAMESPACE - 1); bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctz(bits);

		if (i >= FIELDS)
			return 0;
		off = (off + fields[i].align - 1) & ~(fields[i].align - 1u);
		if (!keep(r, off, fields[i].size, len))
			return 0;
		off += fields[i].size;
	}
	return off;
}

static uint32_t radiotap_vendor(struct rewrite *r, uint32_t off, uint32_t len)
{
	off = (off + 1) & ~1u;
	if (!keep(r, off, VENDOR_HEAD, len))
		return 0;
	off += VENDOR_HEAD + (r->frame[off + 4] | r->frame[off + 5] << 8);
	return off <= len ? off : 0;
}

/* Keeps the present words. Returns the offset behind them, or 0 if they do not end. */
static uint32_t radiotap_words(struct rewrite *r, uint32_t len)
{
	uint32_t off = HEAD;

	while (load_le32(r->frame + off - 4) & MORE) {
		if (!keep(r, off, 4, len))
			return 0;
		off += 4;
	}
	return off;
}

/* A namespace's second word has no field that is known. */
static void radiotap(struct rewrite *r, uint32_t len)
{
	uint32_t off, word, before = NAMESPACE;
	bool vendor = false;

	keep(r, 0, HEAD, len);
	off = radiotap_words(r, len);
	for (uint32_t at = HEAD - 4; off; at += 4, before = word) {
		word = load_le32(r->frame + at);
		if (before & NAMESPACE)
			vendor = false;
		if (!vendor && !(before & NAMESPACE) && word & (NAMESPACE - 1))
			return;
		if (!vendor)
			off = radiotap_fields(r, word, off, len);
		if (off && word & VENDOR) {
			if (word & NAMESPACE)
				return;
			off = radiotap_vendor(r, off, len);
			vendor = true;
		}
		if (!(word & MORE))
			return;
	}
}

/* ---- the others ------------------------------------------------------------------------------ */

#define PRISM_ITEMS 24 /* behind the code, the length and the device's name */
#define PRISM_ITEM_LEN 12
#define PRISM_ITEMS_MAX 10
#define AVS_LEN 64 /* version 2 has the radio's own address behind it */
#define AVS_MAGIC 0x80211000u

static void prism(struct rewrite *r, uint32_t len)
{
	keep(r, 0, 8, len);
	for (uint32_t i = 0; i < PRISM_ITEMS_MAX; i++)
		keep(r, PRISM_ITEMS + i * PRISM_ITEM_LEN, PRISM_ITEM_LEN, len);
}

#define PPI_HEAD 8
#define PPI_FIELD_HEAD 4
enum { PPI_COMMON = 2, PPI_HT_MAC = 3, PPI_HT_MAC_PHY = 4 };
enum { PPI_COMMON_LEN = 20, PPI_HT_MAC_LEN = 12, PPI_HT_MAC_PHY_LEN = 48 };

static void ppi(struct rewrite *r, uint32_t len)
{
	uint32_t off = PPI_HEAD;

	keep(r, 0, PPI_HEAD, len);
	while (keep(r, off, PPI_FIELD_HEAD, len)) {
		const uint8_t *p = r->frame + off;
		unsigned int type = p[0] | p[1] << 8, size = p[2] | p[3] << 8;

		off += PPI_FIELD_HEAD;
		if ((type == PPI_COMMON && size == PPI_COMMON_LEN) ||
		    (type == PPI_HT_MAC && size == PPI_HT_MAC_LEN) ||
		    (type == PPI_HT_MAC_PHY && size == PPI_HT_MAC_PHY_LEN))
			keep(r, off, size, len);
		off += size;
	}
}

void pseudonym_radio(struct rewrite *r, uint16_t linktype, uint32_t len)
{
	if (!rewrite_zero(r, len))
		return;
	if (linktype == LINKTYPE_RADIOTAP)
		radiotap(r, len);
	else if (linktype == LINKTYPE_PPI)
		ppi(r, len);
	else if (linktype == LINKTYPE_AVS || (load_be(r->frame, 4) & 0xfffff000u) == AVS_MAGIC)
		keep(r, 0, AVS_LEN, len);
	else
		prism(r, len);
}
