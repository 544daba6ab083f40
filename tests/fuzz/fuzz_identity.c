// SPDX-License-Identifier: GPL-2.0
/* links: dissect/radiotap.o merge/frame/radiotap.o merge/frame/identity.o */
/*
 * Radiotap header and identity of any frame. First bytes: by how much the frame was cut. Always
 * holds: only the bytes that were kept are read; the words and addresses are inside; the key does
 * not depend on bytes behind the 64th of the MAC frame.
 */
#include <sodium.h>

#include "fuzz.h"
#include "merge/frame/identity.h"

static const uint8_t secret[IDENTITY_SECRET] = "0123456789abcde";

static int identify(struct identity *i, const uint8_t *data, size_t len, size_t whole)
{
	uint8_t *copy = fuzz_copy(data, len);
	struct radiotap r;
	int err = radiotap_read(&r, copy, len);

	if (!err) {
		CHECK(r.len <= len);
		err = identity_read(i, &r, copy, len, whole, secret);
	}
	if (!err) {
		CHECK(i->class < FRAME_CLASSES && *frame_class_word(i->class));
		CHECK(i->mac_len <= sizeof(i->mac));
		identity_transmitter(i);
		identity_receiver(i);
	}
	fuzz_free(copy);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	size_t more = fuzz_number(&in, 2);
	struct identity a, b;
	struct radiotap r;

	CHECK(sodium_init() >= 0);
	len = in.end - in.p;
	if (identify(&a, in.p, len, len + more) || radiotap_read(&r, in.p, len))
		return 0;
	/* With a wrong FCS, or one that must be taken off, the end matters. */
	if (len < (size_t)r.len + IDENTITY_BYTES + 8 || a.class == FRAME_BAD_FCS)
		return 0;
	if (!identify(&b, in.p, len - 4, len + more))
		CHECK(a.key == b.key && a.class == b.class);
	return 0;
}
