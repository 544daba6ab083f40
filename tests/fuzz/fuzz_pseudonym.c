// SPDX-License-Identifier: GPL-2.0
/* links: keep/pseudonym/pseudonym.o keep/pseudonym/pseudonym_dot11.o
 * keep/pseudonym/pseudonym_elements.o keep/pseudonym/pseudonym_frame.o
 * keep/pseudonym/pseudonym_radio.o keep/pseudonym/pseudonym_text.o dissect/radio.o
 * dissect/radiotap.o dissect/ppi.o dissect/prism.o wire/channel.o */
/*
 * A frame with pseudonyms. Input: link type, bytes truncated, the frame. Always holds: the frame
 * becomes no longer. Each byte is the frame's, a zero, or of a pseudonym. Bytes that are cut off
 * are in none of them. With each key there are as many pseudonyms.
 */
#include <ctype.h>
#include <sodium.h>

#include "fuzz.h"

#include "keep/pseudonym/pseudonym_frame.h"
#include "keep/pseudonym/pseudonym_text.h"

#define TIMESTAMP_LEN 8

static const uint16_t linktypes[] = { 1, 105, 119, 127, 163, 192, 228, 123, 144, 254 };

static struct pseudonyms names, others;

static void begin(void)
{
	static const uint8_t key[PSEUDONYM_KEY_LEN] = { 1 }, other[PSEUDONYM_KEY_LEN] = { 2 };

	CHECK(sodium_init() >= 0);
	pseudonyms_init(&names, key);
	pseudonyms_init(&others, other);
}

/* Another last byte, which was cut off, changes nothing before it. */
static void check_cut(uint16_t linktype, const uint8_t *frame, uint32_t kept, uint32_t whole,
		      const uint8_t *out, uint32_t len)
{
	uint8_t *other = fuzz_copy(frame, kept), *again = fuzz_copy(frame, kept);

	if (len < kept)
		other[kept - 1] ^= 0x80;
	if (pseudonym_frame(&names, linktype, again, other, kept, whole) == len)
		CHECK(!memcmp(out, again, len));
	fuzz_free(again);
	fuzz_free(other);
}

/* Digits stay digits, and all else is the same. With each key there are as many addresses. */
static void check_text(const uint8_t *bytes, size_t n)
{
	uint8_t *text = fuzz_copy(bytes, n), *other = fuzz_copy(bytes, n);

	names.addresses = others.addresses = 0;
	pseudonym_text(&names, (char *)text, n);
	pseudonym_text(&others, (char *)other, n);
	CHECK(names.addresses == others.addresses);
	for (size_t i = 0; i < n; i++) {
		CHECK(!isxdigit(bytes[i]) == !isxdigit(text[i]));
		CHECK(isxdigit(bytes[i]) || text[i] == bytes[i]);
		CHECK(tolower(text[i]) == tolower(bytes[i]) || names.addresses);
	}
	fuzz_free(text);
	fuzz_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, data + size };
	unsigned int type = fuzz_number(&in, 1) % (sizeof(linktypes) / sizeof(*linktypes));
	size_t cut_off = fuzz_number(&in, 2), kept;
	const uint8_t *bytes = fuzz_bytes(&in, SIZE_MAX, &kept);
	uint8_t *frame, *out, *other;
	uint32_t len, whole = kept + cut_off, strange = 0;

	if (sodium_is_zero(names.address_key, sizeof(names.address_key)))
		begin();
	frame = fuzz_copy(bytes, kept);
	out = fuzz_copy(bytes, kept);
	other = fuzz_copy(bytes, kept);
	names.addresses = names.ssids = others.addresses = others.ssids = 0;
	len = pseudonym_frame(&names, linktypes[type], out, frame, kept, whole);
	CHECK(len <= kept && !memcmp(frame, bytes, kept));
	CHECK(pseudonym_frame(&others, linktypes[type], other, frame, kept, whole) == len);
	CHECK(names.addresses == others.addresses && names.ssids == others.ssids);
	for (uint32_t i = 0; i < len; i++)
		strange += out[i] && out[i] != frame[i];
	CHECK(strange <= 6 * names.addresses + PSEUDONYM_SSID_MAX * names.ssids + TIMESTAMP_LEN);
	CHECK(!memcmp(out + len, bytes + len, kept - len)); /* nothing is written behind it */
	check_cut(linktypes[type], frame, kept, whole, out, len);
	check_text(bytes, kept);
	fuzz_free(frame);
	fuzz_free(out);
	fuzz_free(other);
	return 0;
}
