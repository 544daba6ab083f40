// SPDX-License-Identifier: GPL-2.0
/* links: wire/put.o */
/*
 * Packets at the socket of saluki-kafka, and headers of messages in Kafka, to which strangers can
 * write. Always holds: what is read is within the packet, and reads the same when written again.
 */
#include <errno.h>

#include "fuzz.h"
#include "wire/put.h"

static void check_name(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len), again[PUT_NAME_LEN];
	struct put_name n, back;
	int err = put_name_read(&n, copy, len);

	CHECK(err == 0 || err == -EBADMSG || err == -EPROTO);
	if (!err) {
		CHECK(len >= PUT_NAME_LEN);
		put_name_write(again, &n);
		CHECK(!memcmp(again, copy, PUT_NAME_LEN) &&
		      !put_name_read(&back, again, sizeof(again)));
		CHECK(back.kind == n.kind && back.sensor == n.sensor && back.frames == n.frames);
		CHECK(back.run == n.run && back.count == n.count && back.first == n.first);
		CHECK(back.info == n.info);
	}
	fuzz_free(copy);
}

static void check_message(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len), head[PUT_HEAD_LEN + PUT_KEY_MAX + 255];
	struct put p;
	size_t n;
	int err = put_read(&p, copy, len);

	CHECK(err == 0 || err == -EBADMSG);
	if (!err) {
		CHECK(p.topic < PUT_TOPICS && p.key_len <= PUT_KEY_MAX && p.header_len <= 255);
		CHECK(p.value_len <= PUT_VALUE_MAX);
		fuzz_touch(p.key, p.key_len);
		fuzz_touch(p.header, p.header_len);
		fuzz_touch(p.value, p.value_len);
		n = put_write(head, &p);
		CHECK(n + p.value_len == len && !memcmp(head, copy, n));
		CHECK((const uint8_t *)p.value == copy + n);
		check_name(p.header, p.header_len);
	}
	fuzz_free(copy);
}

static void check_hello(const uint8_t *data, size_t len)
{
	uint8_t *copy = fuzz_copy(data, len), again[PUT_HELLO_LEN];

	for (int role = PUT_ROLE_SINK; role <= PUT_ROLE_SOURCE; role++) {
		int err = put_hello_read(copy, len, role);

		CHECK(err == 0 || err == -EBADMSG || err == -EPROTO || err == -EPROTOTYPE);
		put_hello(again, role);
		CHECK(err || !memcmp(again, copy, sizeof(again)));
	}
	fuzz_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_message(data, len);
	check_name(data, len);
	check_hello(data, len);
	return 0;
}
