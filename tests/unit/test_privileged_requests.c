// SPDX-License-Identifier: GPL-2.0
/* links: agent/remote/privileged_requests.o wire/channel.o wire/order.o wire/keys.o wire/channel.o
 */
/* The privileged process and the requests of the other one, which is not trusted. */
#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "agent/remote/privileged_requests.h"
#include "common/privsep.h"
#include "wire/order.h"

#define ALL (1 << WIRE_ORDER_SNAPLEN | 1 << WIRE_ORDER_FILTER)

static struct tap tap;
static struct ordered r;
static struct order a;
static unsigned int filters, snaplens, tunes;
static int refuses; /* the tap's result */

int tap_replace_filter(struct tap *t, unsigned int i, const struct filter *new, int linktype,
		       char *why, size_t why_len)
{
	assert_ptr_equal(t, &tap);
	assert_true(i < tap.count && linktype == 1 && (new->is_code || !new->len));
	snprintf(why, why_len, "%s", refuses ? "not taken" : "");
	filters++;
	return refuses;
}

int tap_replace_snaplen(struct tap *t, uint32_t snaplen, char *why, size_t why_len)
{
	assert_ptr_equal(t, &tap);
	assert_int_equal(snaplen, 96);
	snprintf(why, why_len, "%s", refuses ? "not taken" : "");
	snaplens++;
	return refuses;
}

int tap_retune(struct tap *t, unsigned int i, const struct radio_channel *c,
	       struct radio_channel *was, uint64_t *begin_ns)
{
	assert_ptr_equal(t, &tap);
	*was = tap.interfaces[i].channel;
	*begin_ns = 1;
	assert_true(i < tap.count && channel_is_sound(c));
	tunes++;
	return refuses;
}

int tap_card(struct tap *t, unsigned int i, uint16_t *mhz, uint32_t max, uint32_t *count)
{
	assert_true(t == &tap && i < tap.count && max == PLAN_MAX);
	mhz[0] = 2412;
	*count = 1;
	return refuses;
}

static int set_up(void **state)
{
	(void)state;
	memset(&tap, 0, sizeof(tap));
	memset(&r, 0, sizeof(r));
	memset(&a, 0, sizeof(a));
	tap.count = 2;
	tap.interfaces[0].name = "eth0";
	tap.interfaces[1].name = "eth1";
	r.linktype = 1;
	r.snaplen = 96;
	filters = snaplens = tunes = 0;
	refuses = 0;
	return 0;
}

static void what_is_allowed(void **state)
{
	(void)state;
	r.kind = WIRE_ORDER_SNAPLEN;
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_true(a.error == 0 && snaplens == 1);
	r.kind = WIRE_ORDER_FILTER;
	r.interface = 1;
	r.filter.len = 5;
	strcpy(r.filter.text, "tcp");
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_true(a.error == 0 && filters == 1 && a.number == 1);
	assert_true(tap.interfaces[1].filter_is_ordered && !tap.interfaces[0].filter_is_ordered);
	refuses = -E2BIG;
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_int_equal(a.error, -E2BIG);
	assert_string_equal(a.why, "not taken");
}

static void what_is_not(void **state)
{
	(void)state;
	r.kind = WIRE_ORDER_SNAPLEN;
	privileged_requests_do(&tap, 1 << WIRE_ORDER_FILTER, &r, &a);
	assert_int_equal(a.error, -EPERM);
	r.kind = WIRE_ORDER_FILTER;
	privileged_requests_do(&tap, 1 << WIRE_ORDER_SNAPLEN, &r, &a);
	assert_int_equal(a.error, -EPERM);
	privileged_requests_do(NULL, ALL, &r, &a); /* a file */
	assert_int_equal(a.error, -EPERM);
	for (uint64_t kind = WIRE_ORDER_KINDS; kind <= UINT32_MAX; kind = kind * 2 + 1) {
		r.kind = kind;
		a.error = 0;
		privileged_requests_do(&tap, UINT32_MAX, &r, &a);
		assert_int_equal(a.error, -EPERM);
	}
	assert_true(filters == 0 && snaplens == 0);
}

static void what_is_no_request(void **state)
{
	(void)state;
	r.kind = WIRE_ORDER_FILTER;
	r.interface = 2;
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_int_equal(a.error, -EBADMSG);
	r.interface = 0;
	memset(r.filter.text, 'x', sizeof(r.filter.text));
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_int_equal(a.error, -EBADMSG);
	strcpy(r.filter.text, "tcp\n");
	privileged_requests_do(&tap, ALL, &r, &a);
	assert_int_equal(a.error, -EBADMSG);
	assert_int_equal(filters, 0);
}

static void what_comes_by_the_socket(void **state)
{
	int socks[2];
	bool changed;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	r.kind = WIRE_ORDER_FILTER;
	privsep_send(socks[0], &r, sizeof(r), NULL, 0);
	assert_int_equal(privileged_requests_take(&tap, ALL, socks[1], &a, &changed), 0);
	assert_true(changed && a.what == COMMAND_RESULT && a.error == 0);
	privsep_send(socks[0], &r, sizeof(r), NULL, 0);
	assert_int_equal(privileged_requests_take(&tap, 0, socks[1], &a, &changed), 0);
	assert_true(!changed && a.error == -EPERM);
	privsep_send(socks[0], &r, 7, NULL, 0);
	assert_int_equal(privileged_requests_take(&tap, ALL, socks[1], &a, &changed), -EPROTO);
	close(socks[0]);
	assert_int_equal(privileged_requests_take(&tap, ALL, socks[1], &a, &changed), -EPIPE);
	close(socks[1]);
}

/* Accepted only for the sampler: a sampled radio, a valid channel, and no bytes after them. */
static void radios_are_tuned(void **state)
{
	int socks[2];
	bool changed;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	tap.interfaces[1].sampled = TAP_SAMPLED_ANY;
	for (int k = 0; k < 5; k++) {
		r.kind = REQUEST_TUNE;
		r.interface = k == 1 ? 0 : k == 2 ? 2 : 1;
		r.channel = (struct radio_channel){ k == 3 ? 2413 : 2437, 20, 2437 };
		refuses = k == 4 ? -EBUSY : 0;
		privsep_send(socks[0], &r, REQUEST_HEAD_LEN, NULL, 0);
		assert_int_equal(privileged_requests_take(&tap, 0, socks[1], &a, &changed), 0);
		assert_true(a.what == COMMAND_TUNED && a.number == r.interface && !changed);
		assert_int_equal(a.error, k == 0 ? 0 : k == 4 ? -EBUSY : -EPERM);
		assert_true(a.tuned.end_ns >= a.tuned.begin_ns);
	}
	assert_int_equal(tunes, 2);
	/* One channel on the command line: that one and no other. */
	tap.interfaces[1].sampled = TAP_SAMPLED_ONE;
	tap.interfaces[1].channel = (struct radio_channel){ 2412, 20, 2412 };
	refuses = 0;
	for (int k = 0; k < 2; k++) {
		r.channel.mhz = r.channel.center = k ? 2437 : 2412;
		privsep_send(socks[0], &r, REQUEST_HEAD_LEN, NULL, 0);
		assert_int_equal(privileged_requests_take(&tap, 0, socks[1], &a, &changed), 0);
		assert_int_equal(a.error, k ? -EPERM : 0);
	}
	assert_int_equal(tunes, 3);
	tap.interfaces[1].sampled = TAP_SAMPLED_ANY;
	assert_true(a.tuned.begin_ns > 0);
	r.kind = REQUEST_CARD;
	refuses = 0;
	privsep_send(socks[0], &r, REQUEST_HEAD_LEN, NULL, 0);
	assert_int_equal(privileged_requests_take(&tap, 0, socks[1], &a, &changed), 0);
	assert_true(a.what == COMMAND_CARD && !a.error && a.card.count == 1 &&
		    a.card.mhz[0] == 2412);
	/* Without this order's permission, or with a file, the request is refused. */
	privsep_send(socks[0], &r, sizeof(r), NULL, 0);
	assert_int_equal(privileged_requests_take(&tap, ALL, socks[1], &a, &changed), 0);
	assert_true(a.what == COMMAND_RESULT && a.error == -EPERM);
	privsep_send(socks[0], &r, REQUEST_HEAD_LEN, NULL, 0);
	assert_int_equal(privileged_requests_take(NULL, ALL, socks[1], &a, &changed), -EPROTO);
	close(socks[0]);
	close(socks[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_allowed, set_up),
		cmocka_unit_test_setup(what_is_not, set_up),
		cmocka_unit_test_setup(what_is_no_request, set_up),
		cmocka_unit_test_setup(what_comes_by_the_socket, set_up),
		cmocka_unit_test_setup(radios_are_tuned, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
