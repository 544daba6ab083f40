// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/session_send.o wire/shroud.o wire/derive.o wire/table.o */
/*
 * Batches of datagrams: which of them pass through the kernel as one buffer, and what becomes of
 * them when it refuses that. The kernel here records, and fails as the test says.
 */
#include "unit.h"

#include <netinet/in.h>
#include <sodium.h>

#include "agent/export/session_send.h"
#include "agent/export/sockets.h"

#define CALLS_MAX 100
#define TAKES_ONE 1

/* Messages that the kernel was given, and its answers. */
static struct {
	unsigned int calls, messages;
	size_t lens[CALLS_MAX];		/* bytes of each message that was taken */
	unsigned int counts[CALLS_MAX]; /* datagrams in it */
	unsigned int datagrams;
	int errors[CALLS_MAX]; /* of the calls; 0: takes all, TAKES_ONE: one message */
	size_t longest;	       /* takes no longer datagrams: EINVAL with segments, else EMSGSIZE */
	uint8_t got[64][SHROUD_DATAGRAM_MAX];
	size_t got_len[64];
} kernel;

static struct session_send batch;
static struct shroud_tx tx;

static uint16_t segment_of(struct msghdr *m)
{
	struct cmsghdr *c = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
	uint16_t len;

	if (!c)
		return 0;
	assert_int_equal(c->cmsg_level, IPPROTO_UDP);
	assert_int_equal(c->cmsg_type, UDP_SEGMENT);
	memcpy(&len, CMSG_DATA(c), sizeof(len));
	return len;
}

/* Cuts a message as the kernel does. Returns 0 or an error. */
static int take(struct msghdr *m)
{
	uint16_t segment = segment_of(m);
	size_t total = 0;

	for (size_t i = 0; i < m->msg_iovlen; i++) {
		size_t len = m->msg_iov[i].iov_len;

		if (!segment)
			assert_int_equal(m->msg_iovlen, 1);
		else if (i + 1 < m->msg_iovlen)
			assert_int_equal(len, segment);
		else
			assert_true(len <= segment);
		if (kernel.longest && len > kernel.longest)
			return segment ? EINVAL : EMSGSIZE;
		total += len;
	}
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		kernel.got_len[kernel.datagrams] = m->msg_iov[i].iov_len;
		memcpy(kernel.got[kernel.datagrams++], m->msg_iov[i].iov_base,
		       m->msg_iov[i].iov_len);
	}
	kernel.lens[kernel.messages] = total;
	kernel.counts[kernel.messages++] = m->msg_iovlen;
	return 0;
}

#ifdef __GLIBC__
int sendmmsg(int sock, struct mmsghdr *messages, unsigned int n, int flags)
#else /* musl */
int sendmmsg(int sock, struct mmsghdr *messages, unsigned int n, unsigned int flags)
#endif
{
	int err = kernel.errors[kernel.calls++];

	(void)sock;
	(void)flags;
	if (err > TAKES_ONE) {
		errno = err;
		return -1;
	}
	if (err == TAKES_ONE)
		n = 1;
	for (unsigned int i = 0; i < n; i++) {
		errno = take(&messages[i].msg_hdr);
		if (errno)
			return i ? (int)i : -1;
	}
	return n;
}

static int set_up(void **state)
{
	static const struct shroud_keys keys = { .seal = { 7 } };

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	memset(&batch, 0, sizeof(batch));
	shroud_tx_init(&tx, &keys);
	batch.segments = true;
	return 0;
}

/* Seals messages of these lengths, 0 ends them, and sends them. */
static struct session_sent_counts send_lens(const size_t *lens)
{
	static uint8_t message[SHROUD_DATAGRAM_MAX];
	static uint8_t sealed[SESSION_SEND_MAX][SHROUD_DATAGRAM_MAX];
	struct session_sent_counts s;
	unsigned int n = 0;

	for (; lens[n]; n++) {
		assert_true(n < SESSION_SEND_MAX);
		session_send_seal(&batch, &tx, message, lens[n] - SHROUD_OVERHEAD, 0);
		memcpy(sealed[n], batch.datagrams[n], lens[n]);
	}
	s = session_send(&batch, 0);
	assert_int_equal(batch.count, 0);
	assert_int_equal(s.datagrams, kernel.datagrams);
	for (unsigned int i = 0; i < n && s.datagrams == n; i++) {
		assert_int_equal(kernel.got_len[i], lens[i]);
		assert_memory_equal(kernel.got[i], sealed[i], lens[i]);
	}
	return s;
}

static void assert_counts(const unsigned int *counts, unsigned int n)
{
	assert_int_equal(kernel.messages, n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(kernel.counts[i], counts[i]);
}

static const size_t combo[] = { 1400, 1400, 1400, 500, 0 };

static void a_combo_is_one_buffer(void **state)
{
	struct session_sent_counts s = send_lens(combo);

	(void)state;
	assert_counts((const unsigned int[]){ 4 }, 1);
	assert_int_equal(kernel.calls, 1);
	assert_int_equal(s.bytes, 3 * 1400 + 500);
}

static void a_longer_one_begins_another(void **state)
{
	(void)state;
	send_lens((const size_t[]){ 1400, 1400, 500, 1400, 500, 600, 600, 33, 0 });
	assert_counts((const unsigned int[]){ 3, 2, 3 }, 3);
	assert_int_equal(kernel.calls, 1);
}

static void without_segments_each_is_a_message(void **state)
{
	(void)state;
	batch.segments = false;
	send_lens(combo);
	assert_counts((const unsigned int[]){ 1, 1, 1, 1 }, 4);
	assert_int_equal(kernel.calls, 1);
}

/* The path takes 1200 bytes: the long ones are lost, the short one arrives, as without segments. */
static void a_smaller_path(void **state)
{
	struct session_sent_counts s;

	(void)state;
	kernel.longest = 1200;
	s = send_lens(combo);
	assert_int_equal(s.datagrams, 1);
	assert_int_equal(kernel.got_len[0], 500);
	assert_true(s.too_big);
	assert_true(batch.segments);
	kernel.longest = 0;
	kernel.datagrams = kernel.messages = 0;
	s = send_lens(combo);
	assert_counts((const unsigned int[]){ 4 }, 1);
	assert_false(s.too_big);
}

static void a_path_that_cannot_segment(void **state)
{
	(void)state;
	kernel.errors[0] = EIO;
	assert_int_equal(send_lens(combo).datagrams, 4);
	assert_counts((const unsigned int[]){ 1, 1, 1, 1 }, 4);
	assert_false(batch.segments);
	kernel.datagrams = kernel.messages = 0;
	assert_int_equal(send_lens(combo).datagrams, 4);
	assert_counts((const unsigned int[]){ 1, 1, 1, 1 }, 4);
}

/* An error about an earlier datagram, an interrupted call, and a full buffer cost nothing. */
static void errors_that_pass(void **state)
{
	static const int errors[] = { ECONNREFUSED, EINTR, ENOBUFS, EAGAIN };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		set_up(state);
		kernel.errors[0] = errors[i];
		assert_int_equal(send_lens(combo).datagrams, 4);
		assert_counts((const unsigned int[]){ 4 }, 1);
		assert_int_equal(kernel.calls, 2);
	}
}

/* No room for the whole buffer, twice: the datagrams go one by one, and those that fail are lost.
 */
static void no_room_for_a_buffer(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		kernel.errors[i] = ENOBUFS;
	assert_int_equal(send_lens(combo).datagrams, 3);
	assert_true(batch.segments);
}

static void a_part_of_the_messages(void **state)
{
	(void)state;
	kernel.errors[0] = TAKES_ONE;
	send_lens((const size_t[]){ 1400, 500, 1400, 500, 0 });
	assert_counts((const unsigned int[]){ 2, 2 }, 2);
	assert_int_equal(kernel.calls, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_combo_is_one_buffer, set_up),
		cmocka_unit_test_setup(a_longer_one_begins_another, set_up),
		cmocka_unit_test_setup(without_segments_each_is_a_message, set_up),
		cmocka_unit_test_setup(a_smaller_path, set_up),
		cmocka_unit_test_setup(a_path_that_cannot_segment, set_up),
		cmocka_unit_test_setup(errors_that_pass, set_up),
		cmocka_unit_test_setup(no_room_for_a_buffer, set_up),
		cmocka_unit_test_setup(a_part_of_the_messages, set_up),
	};

	return cmocka_run_group_tests_name("session_send", tests, NULL, NULL);
}
