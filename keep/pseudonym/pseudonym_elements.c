// SPDX-License-Identifier: GPL-2.0
/* Elements: see pseudonym_elements.h. Source: IEEE 802.11-2020, 9.4.2; 802.11ax and 802.11be. */
#include "pseudonym_elements.h"

#include <stddef.h>

enum { SSID = 0, RSN = 48, VENDOR = 221, EXTENSION = 255 };

/* Elements that are copied if their length fits. A length that is not the element's own is a sign
 * of something else at this place. */
static const struct known {
	uint8_t id, least, most;
} known[] = {
	{ 1, 1, 16 },	 /* supported rates */
	{ 2, 5, 5 },	 /* FH parameters */
	{ 3, 1, 1 },	 /* DS parameter: the channel */
	{ 4, 6, 6 },	 /* CF parameters */
	{ 5, 4, 254 },	 /* TIM */
	{ 6, 2, 2 },	 /* IBSS parameter */
	{ 7, 6, 254 },	 /* country */
	{ 11, 5, 5 },	 /* BSS load */
	{ 32, 1, 1 },	 /* power constraint */
	{ 33, 2, 2 },	 /* power capability */
	{ 34, 0, 0 },	 /* TPC request */
	{ 35, 2, 2 },	 /* TPC report */
	{ 36, 2, 64 },	 /* supported channels */
	{ 37, 3, 3 },	 /* channel switch */
	{ 40, 6, 6 },	 /* quiet */
	{ 42, 1, 1 },	 /* ERP */
	{ 45, 26, 26 },	 /* HT capabilities */
	{ 46, 1, 1 },	 /* QoS capability */
	{ 50, 1, 64 },	 /* extended supported rates */
	{ 59, 2, 64 },	 /* supported operating classes */
	{ 60, 4, 4 },	 /* extended channel switch */
	{ 61, 22, 22 },	 /* HT operation */
	{ 62, 1, 1 },	 /* secondary channel offset */
	{ 70, 5, 5 },	 /* RM enabled capabilities */
	{ 72, 1, 1 },	 /* 20/40 coexistence */
	{ 74, 14, 14 },	 /* overlapping BSS scan parameters */
	{ 127, 1, 16 },	 /* extended capabilities */
	{ 191, 12, 12 }, /* VHT capabilities */
	{ 192, 5, 5 },	 /* VHT operation */
	{ 193, 6, 6 },	 /* extended BSS load */
	{ 195, 2, 18 },	 /* transmit power envelope */
	{ 199, 1, 1 },	 /* operating mode */
};

/* Those with an id extension; the lengths count it. */
static const struct known extensions[] = {
	{ 35, 22, 55 }, /* HE capabilities */
	{ 36, 7, 16 },	/* HE operation */
	{ 38, 14, 14 }, /* MU EDCA parameters */
	{ 59, 3, 3 },	/* HE 6 GHz capabilities */
};

static bool is_known(const struct known *list, size_t count, uint8_t id, uint8_t len)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].id == id)
			return len >= list[i].least && len <= list[i].most;
	return false;
}

#define IS_KNOWN(list, id, len) is_known(list, sizeof(list) / sizeof(*(list)), id, len)

/* ---- one element: `end` is behind it --------------------------------------------------------- */

static bool copy_within(struct rewrite *r, uint32_t end, uint32_t n)
{
	return n <= end - r->at && rewrite_copy(r, n);
}

/* A number of cipher or AKM suites, and these. */
static bool copy_suites(struct rewrite *r, uint32_t end)
{
	const uint8_t *p = r->frame + r->at;

	return copy_within(r, end, 2) && copy_within(r, end, 4 * (p[0] | p[1] << 8));
}

/* Version, group cipher, pairwise ciphers, AKMs, capabilities. PMKIDs are sums of both addresses:
 * who knows the network's key could test guesses. */
static void copy_security(struct rewrite *r, uint32_t end)
{
	const uint8_t *p;
	uint32_t pmkids;

	if (!copy_within(r, end, 6) || !copy_suites(r, end) || !copy_suites(r, end) ||
	    !copy_within(r, end, 2))
		return;
	p = r->frame + r->at;
	if (!copy_within(r, end, 2))
		return;
	pmkids = 16 * (p[0] | p[1] << 8);
	if (pmkids <= end - r->at && rewrite_zero(r, pmkids))
		copy_within(r, end, 4); /* the group management cipher */
}

/* Microsoft's: WPA, and WMM's information and parameters. */
static void copy_vendor(struct rewrite *r, uint32_t end)
{
	static const uint8_t wpa[4] = { 0x00, 0x50, 0xf2, 1 }, wmm[4] = { 0x00, 0x50, 0xf2, 2 };
	const uint8_t *p = r->frame + r->at;
	uint32_t len = end - r->at;

	if (len < 7)
		return;
	if (!memcmp(p, wpa, 4) && rewrite_copy(r, 4))
		copy_security(r, end);
	else if (!memcmp(p, wmm, 4) && ((p[4] == 0 && len == 7) || (p[4] == 1 && len == 24)))
		rewrite_copy(r, len);
}

static void copy_ssid(struct rewrite *r, uint32_t len)
{
	uint32_t at = r->at;

	if (len <= PSEUDONYM_SSID_MAX && rewrite_zero(r, len))
		pseudonym_ssid(r->names, r->out + at, r->frame + at, len);
}

static void copy_extension(struct rewrite *r, uint32_t len)
{
	if (len)
		rewrite_copy(r, IS_KNOWN(extensions, r->frame[r->at], len) ? len : 1);
}

/* The whole element is there. */
static void take(struct rewrite *r, uint8_t id, uint8_t len)
{
	uint32_t end = r->at + 2 + len;

	rewrite_copy(r, 2);
	if (id == SSID)
		copy_ssid(r, len);
	else if (id == RSN)
		copy_security(r, end);
	else if (id == VENDOR)
		copy_vendor(r, end);
	else if (id == EXTENSION)
		copy_extension(r, len);
	else if (IS_KNOWN(known, id, len))
		rewrite_copy(r, len);
	rewrite_zero(r, end - r->at);
}

void pseudonym_elements(struct rewrite *r)
{
	const uint8_t *e;

	while (!rewrite_is_fcs(r) && (e = rewrite_peek(r, 2)) && rewrite_peek(r, 2 + e[1]))
		take(r, e[0], e[1]);
	rewrite_cut(r);
}
