// SPDX-License-Identifier: GPL-2.0
/* links: */
/*
 * Trim, radiotap, 802.11 and everything inside, as compiled for the host (`saluki run -r`). Input:
 * link type, snaplen, bytes truncated, a gap of zeros and its place (headers may lie beyond the
 * parsed part), the frame. Always holds: no byte beyond the frame is read; no more is kept than
 * exists and was requested; and a frame that was truncated earlier is trimmed like the whole one,
 * unless a header is malformed.
 */
#include "fuzz.h"

/* Each function of the parser is compiled once, not copied into each caller: coverage found through
 * one link type then counts for all, and the corpus stays small. */
#define always_inline noinline
#include "bpf/trim.h"

static const int linktypes[] = { LINKTYPE_ETHERNET, LINKTYPE_IEEE802_11, LINKTYPE_PRISM,
				 LINKTYPE_RADIOTAP, LINKTYPE_AVS,	 LINKTYPE_PPI };

struct kept {
	unsigned int len, malformed;
};

static struct kept trim(const uint8_t *data, size_t len, size_t orig_len, int linktype, int headers,
			unsigned int snaplen)
{
	uint8_t *copy = fuzz_copy(data, len);
	struct frame f = { .data = copy, .end = copy + len, .orig_len = orig_len };
	struct kept k = { trim_frame(&f, len, linktype, headers, snaplen), 0 };

	k.malformed = f.malformed;
	CHECK(k.len <= len && k.len <= snaplen && k.malformed <= 1);
	fuzz_free(copy);
	return k;
}

static void check_frame(const uint8_t *data, size_t len, size_t cut_off, int linktype,
			unsigned int snaplen, size_t cut)
{
	size_t orig = len + cut_off;
	struct kept all = trim(data, len, orig, linktype, 0, snaplen);
	struct kept headers = trim(data, len, orig, linktype, 1, snaplen);
	struct kept most = trim(data, len, orig, linktype, 1, ~0u);
	struct kept less;

	CHECK(all.len == (len < snaplen ? len : snaplen) && !all.malformed);
	CHECK(headers.len == (most.len < snaplen ? most.len : snaplen));
	CHECK(headers.malformed == most.malformed);
	cut %= len + 1;
	less = trim(data, cut, orig, linktype, 1, ~0u);
	if (!most.malformed)
		CHECK(!less.malformed && less.len == (most.len < cut ? most.len : cut));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	int linktype = linktypes[fuzz_number(&in, 1) % (sizeof(linktypes) / sizeof(*linktypes))];
	unsigned int snaplen = fuzz_number(&in, 2) + 1;
	size_t cut_off = fuzz_number(&in, 2), cut = fuzz_number(&in, 2);
	size_t gap = fuzz_number(&in, 2), gap_at = fuzz_number(&in, 1), n;
	const uint8_t *bytes = fuzz_bytes(&in, SIZE_MAX, &n);
	uint8_t *frame;

	if (gap < 16384 - 256) /* the fuzzer makes a small gap itself */
		gap = 0;
	if (gap_at > n)
		gap_at = n;
	frame = calloc(1, n + gap + 1);
	memcpy(frame, bytes, gap_at);
	memcpy(frame + gap_at + gap, bytes + gap_at, n - gap_at);
	check_frame(frame, n + gap, cut_off, linktype, snaplen, cut);
	free(frame);
	return 0;
}
