// SPDX-License-Identifier: GPL-2.0
/* links: dissect/dissect.o dissect/dot11.o dissect/dot11_body.o dissect/network.o dissect/radio.o
 * dissect/radiotap.o dissect/prism.o dissect/ppi.o dissect/airtime.o wire/channel.o */
/*
 * The dissection of any frame. Input: link type, bytes truncated, a cut, the frame. Always holds:
 * no byte beyond the frame is read; addresses and SSID lie inside; an absent number is 0; the
 * headers end where the trim ends them; and a frame that is cut has no field that the whole one
 * lacks, and none of another value.
 */
#include "fuzz.h"

#include "bpf/trim.h"
#include "dissect/dissect.h"

static const uint16_t linktypes[] = { 1, 105, 119, 127, 163, 192, 228 };

static const uint8_t *const *pointers(const struct dissection *d, int i)
{
	const uint8_t *const *const all[] = { &d->receiver, &d->transmitter, &d->bssid,
					      &d->source,   &d->destination, &d->second_bssid,
					      &d->ssid };

	return all[i];
}

#define POINTERS 7
#define SSID (POINTERS - 1)

static void check_inside(const struct dissection *d, const uint8_t *frame, size_t len)
{
	for (int i = 0; i < POINTERS; i++) {
		const uint8_t *p = *pointers(d, i);
		size_t size = i == SSID ? d->ssid_len : 6;

		CHECK(!p || (p >= frame && p + size <= frame + len));
	}
	CHECK(d->ssid_len <= 32 && (d->ssid || !d->ssid_len));
	CHECK(d->headers_end <= len);
}

static void check_numbers(const struct dissection *d)
{
	CHECK(d->has & DISSECT_FREQUENCY || !d->frequency);
	CHECK(d->has & DISSECT_SIGNAL || !d->signal);
	CHECK(d->has & DISSECT_NOISE || !d->noise);
	CHECK(d->has & DISSECT_RATE || !d->rate_kbps);
	CHECK(d->has & DISSECT_MCS || !d->mcs);
	CHECK(d->has & DISSECT_STREAMS || !d->streams);
	CHECK(d->has & DISSECT_AIRTIME || !d->airtime_ns);
	CHECK(d->has & DISSECT_FCS || !(d->has_fcs || d->bad_fcs));
	CHECK(d->has & DISSECT_TYPE || !(d->type || d->subtype || d->flags || d->receiver));
	CHECK(d->has & DISSECT_DURATION || !d->duration);
	CHECK(d->has & DISSECT_SEQUENCE || !(d->sequence || d->fragment));
	CHECK(d->has & DISSECT_ETHERTYPE || !d->ethertype);
	CHECK(d->phy <= DISSECT_PHY_HE && d->type <= 3 && d->subtype <= 15);
	CHECK(d->sequence <= 4095 && d->fragment <= 15 && d->duration <= 32767);
}

static void check_addresses(const struct dissection *d)
{
	const uint8_t *all[DISSECT_ADDRESSES_MAX];
	unsigned int n = dissect_addresses(d, all);

	CHECK(n <= DISSECT_ADDRESSES_MAX);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < i; k++)
			CHECK(memcmp(all[i], all[k], 6));
}

static void check_trim(const struct dissection *d, const uint8_t *frame, size_t len, size_t orig,
		       int linktype)
{
	struct frame f = { .data = frame, .end = frame + len, .orig_len = orig };

	if (linktype_has_trim(linktype))
		CHECK(d->headers_end == trim_frame(&f, len, linktype, 1, ~0u));
	else
		CHECK(d->headers_end == len && !d->has);
}

static void check_cut(const struct dissection *all, const uint8_t *frame, size_t len, size_t orig,
		      int linktype)
{
	uint8_t *copy = fuzz_copy(frame, len);
	struct dissection part;

	dissect_frame(&part, linktype, copy, len, orig);
	check_inside(&part, copy, len);
	CHECK(!(part.has & ~all->has));
	for (int i = 0; i < POINTERS; i++) {
		const uint8_t *p = *pointers(&part, i);

		CHECK(!p || p - copy == *pointers(all, i) - frame);
	}
	CHECK(!(part.has & DISSECT_FREQUENCY) || part.frequency == all->frequency);
	CHECK(!(part.has & DISSECT_SIGNAL) || part.signal == all->signal);
	CHECK(!(part.has & DISSECT_RATE) || part.rate_kbps == all->rate_kbps);
	CHECK(!(part.has & DISSECT_AIRTIME) || part.airtime_ns == all->airtime_ns);
	CHECK(!(part.has & DISSECT_DURATION) || part.duration == all->duration);
	CHECK(!(part.has & DISSECT_SEQUENCE) || part.sequence == all->sequence);
	CHECK(!(part.has & DISSECT_ETHERTYPE) || part.ethertype == all->ethertype);
	CHECK(!part.ssid || part.ssid_len == all->ssid_len);
	fuzz_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	int linktype = linktypes[fuzz_number(&in, 1) % (sizeof(linktypes) / sizeof(*linktypes))];
	size_t cut_off = fuzz_number(&in, 2), cut = fuzz_number(&in, 2), n;
	const uint8_t *bytes = fuzz_bytes(&in, SIZE_MAX, &n);
	uint8_t *copy = fuzz_copy(bytes, n);
	struct dissection d;

	dissect_frame(&d, linktype, copy, n, n + cut_off);
	check_inside(&d, copy, n);
	check_numbers(&d);
	check_addresses(&d);
	check_trim(&d, copy, n, n + cut_off, linktype);
	check_cut(&d, copy, cut % (n + 1), n + cut_off, linktype);
	fuzz_free(copy);
	return 0;
}
