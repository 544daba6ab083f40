// SPDX-License-Identifier: GPL-2.0
/* links: agent/remote/commands.o wire/order.o wire/keys.o wire/channel.o */
/* Orders in the control thread, with the test's own compiler and privileged process. */
#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/remote/commands.h"
#include "common/monotonic.h"
#include "common/privsep.h"

static struct {
	struct commands o;
	struct answer_message now;
	int privileged;	  /* our end of its socket */
	char asked[1100]; /* the compiler's last request; "": none */
	int asked_linktype;
	char said[100];	      /* the radios' reason */
	struct compiled says; /* the compiler's result */
	int err;
} t;

const char compile_filter_none[] = "there is none";

int compile_filter_ask(int sock, const char *expression, int linktype)
{
	(void)sock;
	snprintf(t.asked, sizeof(t.asked), "%s", expression);
	t.asked_linktype = linktype;
	return t.err;
}

int compile_filter_answer(int sock, struct compiled *c)
{
	(void)sock;
	*c = t.says;
	return t.err;
}

static int set_up(void **state)
{
	static struct handover h;
	static struct info_interface names[2] = { { .name = "eth0" }, { .name = "mon0" } };
	int socks[2];

	(void)state;
	memset(&t, 0, sizeof(t));
	h = (struct handover){
		.kind = HANDOVER_RING, .snaplen = 192, .snaplen_max = 300, .count = 2
	};
	h.interfaces[0].linktype = LINKTYPE_ETHERNET;
	h.interfaces[1].linktype = LINKTYPE_RADIOTAP;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, socks), 0);
	t.privileged = socks[0];
	assert_int_equal(commands_init(&t.o, 7, &h, socks[1], dup(0)), 0);
	t.o.names = names;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(t.privileged);
	close(t.o.privileged);
	commands_free(&t.o);
	return 0;
}

static bool take(unsigned int peer, uint64_t number, const char *text)
{
	struct order_message m = { .number = number };

	snprintf(m.text, sizeof(m.text), "%s", text);
	return commands_take(&t.o, peer, &m, &t.now);
}

/* Reads the request to the privileged process. Returns false if there is none. */
static bool asked(struct ordered *r)
{
	return privsep_recv(t.privileged, r, sizeof(*r), NULL) == 0;
}

static bool result(int err, const char *why)
{
	struct order o = { .what = COMMAND_RESULT, .error = err };

	snprintf(o.why, sizeof(o.why), "%s", why);
	return commands_result(&t.o, &o);
}

/* The sampler: refuses three members, has to ask for a focus, and otherwise succeeds. */
static int sample(void *arg, const struct order_channels *c)
{
	assert_ptr_equal(arg, &t);
	assert_string_equal(t.said, "");
	if (c->focus)
		return -EINPROGRESS;
	if (c->members != 3)
		return 0;
	strcpy(t.said, "there are three");
	return -EINVAL;
}

static int sampled(void *arg)
{
	assert_ptr_equal(arg, &t);
	return t.err;
}

static void channels_are_the_samplers(void **state)
{
	(void)state;
	assert_true(take(0, 1, "set channels 1,6"));
	assert_int_equal(t.now.status, ANSWER_FAILED); /* there is no radio */
	t.o.radios = (struct commands_radios){ sample, sampled, &t, t.said };
	assert_true(take(0, 2, "set channels 1,6 share 1/2"));
	assert_int_equal(t.now.status, ANSWER_DONE);
	assert_string_equal(t.now.text, "set channels 1,6 share 1/2");
	assert_true(take(0, 3, "set channels 1 share 1/3"));
	assert_int_equal(t.now.status, ANSWER_FAILED);
	assert_string_equal(t.now.text, "there are three");
	t.o.allowed &= ~(1u << WIRE_ORDER_CHANNELS);
	assert_true(take(0, 5, "focus 6 300"));
	assert_int_equal(t.now.status, ANSWER_NOT_ALLOWED);
}

static int set_keys(void *arg, const struct order_keys *k, char *said, size_t size)
{
	assert_ptr_equal(arg, &t);
	snprintf(said, size, "%u keys", k->count);
	return k->count == 2 ? -ENOSPC : 0;
}

#define KEY_A "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
#define KEY_B "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="

/* --allow-control does not name them. */
static void keys_are_the_sessions(void **state)
{
	(void)state;
	t.o.allowed = UINT_MAX;
	assert_true(take(0, 1, "set keys " KEY_A));
	assert_int_equal(t.now.status, ANSWER_NOT_ALLOWED);
	t.o.allowed = 0;
	t.o.keys = (struct commands_keys){ set_keys, &t };
	assert_true(take(0, 2, "set keys " KEY_A));
	assert_int_equal(t.now.status, ANSWER_DONE);
	assert_string_equal(t.now.text, "1 keys");
	assert_true(take(0, 3, "set keys " KEY_A " " KEY_B));
	assert_int_equal(t.now.status, ANSWER_FAILED);
	assert_true(take(0, 2, "set keys " KEY_A)); /* repeated later */
	assert_int_equal(t.now.status, ANSWER_STALE);
	assert_true(take(0, 4, "set keys x"));
	assert_int_equal(t.now.status, ANSWER_UNKNOWN);
}

/* The answer follows when all radios were asked. */
static void radios_are_waited_for(void **state)
{
	(void)state;
	t.o.radios = (struct commands_radios){ sample, sampled, &t, t.said };
	assert_false(commands_sampled(&t.o)); /* nobody asked */
	assert_false(take(0, 1, "focus 6 300"));
	t.err = -EINPROGRESS;
	assert_false(commands_sampled(&t.o));
	assert_false(take(0, 2, "focus 7 300")); /* it will be repeated */
	t.err = 0;
	assert_true(commands_sampled(&t.o));
	assert_int_equal(t.o.answer.status, ANSWER_DONE);
	assert_string_equal(t.o.answer.text, "focus 6 300");
	assert_false(commands_sampled(&t.o));
	assert_false(take(0, 2, "focus 7 300"));
	strcpy(t.said, "mon0: cannot");
	assert_true(commands_sampled(&t.o));
	assert_int_equal(t.o.answer.status, ANSWER_DONE);
	assert_string_equal(t.o.answer.text, "mon0: cannot; the others: focus 7 300");
	assert_false(take(0, 3, "focus 8 300"));
	strcpy(t.said, "mon0: cannot");
	t.err = -EIO;
	assert_true(commands_sampled(&t.o));
	assert_int_equal(t.o.answer.status, ANSWER_FAILED);
	assert_string_equal(t.o.answer.text, "mon0: cannot");
}

static void each_once(void **state)
{
	static struct ordered r;

	(void)state;
	assert_false(take(0, 10, "set snaplen 96"));
	assert_true(asked(&r) && r.kind == WIRE_ORDER_SNAPLEN && r.snaplen == 96);
	assert_false(take(0, 10, "set snaplen 96")); /* repeated before there is an answer */
	assert_false(take(0, 11, "set snaplen 97")); /* another one: it will be repeated */
	assert_false(asked(&r));
	assert_true(result(0, ""));
	assert_true(t.o.answer.number == 10 && t.o.answer.status == ANSWER_DONE);
	assert_int_equal(t.o.snaplen, 96);
	assert_false(result(0, "")); /* nobody asked */
	assert_true(take(0, 10, "set snaplen 96"));
	assert_true(t.now.number == 10 && t.now.status == ANSWER_DONE);
	assert_true(take(0, 10, "set snaplen 100")); /* the number counts */
	assert_false(asked(&r));
	assert_true(take(0, 9, "set snaplen 100"));
	assert_true(t.now.number == 9 && t.now.status == ANSWER_STALE);
	assert_true(take(0, 0, "set snaplen 100"));
	assert_int_equal(t.now.status, ANSWER_STALE);
	assert_false(asked(&r));
	assert_false(take(0, 11, "set snaplen 300"));
	assert_true(asked(&r) && r.snaplen == 300);
	assert_true(result(0, ""));
}

static void each_collector_counts_alone(void **state)
{
	static struct ordered r;

	(void)state;
	assert_false(take(0, 1000, "set snaplen 96"));
	assert_true(result(0, ""));
	assert_false(take(1, 5, "set snaplen 97"));
	assert_true(result(0, ""));
	assert_true(asked(&r) && asked(&r) && r.snaplen == 97);
	assert_true(take(0, 1000, "set snaplen 96")); /* that answer is not kept any more */
	assert_int_equal(t.now.status, ANSWER_STALE);
	assert_true(take(1, 5, "set snaplen 97"));
	assert_int_equal(t.now.status, ANSWER_DONE);
}

static void many_have_to_wait(void **state)
{
	unsigned int answered = 0;

	(void)state;
	t.o.paced_ns = monotonic_ns(); /* none may be early; each refused one is answered */
	for (int i = 0; i < 1000; i++)
		answered += take(0, i + 1, "reboot");
	assert_in_range(answered, 0, 100); /* on a busy machine */
	t.o.paced_ns = 0;
	for (int i = 0; i < COMMANDS_AT_ONCE; i++)
		assert_true(take(0, i + 1001, "reboot"));
}

static void what_is_refused_at_once(void **state)
{
	static struct ordered r;

	(void)state;
	assert_true(take(0, 1, "reboot"));
	assert_int_equal(t.now.status, ANSWER_UNKNOWN);
	assert_true(take(0, 2, "set snaplen 301"));
	assert_int_equal(t.now.status, ANSWER_FAILED);
	assert_non_null(strstr(t.now.text, "to 300"));
	assert_true(take(0, 3, "set snaplen 0"));
	assert_int_equal(t.now.status, ANSWER_FAILED);
	t.o.allowed = 1 << WIRE_ORDER_SNAPLEN;
	assert_true(take(0, 4, "set filter tcp"));
	assert_int_equal(t.now.status, ANSWER_NOT_ALLOWED);
	assert_non_null(strstr(t.now.text, "--allow-control filter"));
	assert_true(take(0, 4, "set filter tcp"));
	assert_int_equal(t.now.status, ANSWER_NOT_ALLOWED);
	assert_false(asked(&r));
	assert_int_equal(t.asked[0], 0);
}

static void what_the_privileged_process_refuses(void **state)
{
	(void)state;
	assert_false(take(0, 1, "set snaplen 96"));
	assert_true(result(-EBUSY, "no"));
	assert_true(t.o.answer.status == ANSWER_FAILED && !strcmp(t.o.answer.text, "no"));
	assert_int_equal(t.o.snaplen, 192);
}

static void a_filter_goes_to_all_interfaces(void **state)
{
	static struct ordered r;

	(void)state;
	t.says.filter.len = 3;
	assert_false(take(0, 1, "set filter tcp port 80"));
	assert_string_equal(t.asked, "tcp port 80");
	assert_int_equal(t.asked_linktype, LINKTYPE_ETHERNET);
	assert_false(commands_compiled(&t.o)); /* first, whether it compiles for both */
	assert_int_equal(t.asked_linktype, LINKTYPE_RADIOTAP);
	assert_false(asked(&r));
	assert_false(commands_compiled(&t.o));
	assert_int_equal(t.asked_linktype, LINKTYPE_ETHERNET);
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(asked(&r));
		assert_false(commands_compiled(&t.o));
		assert_true(asked(&r) && r.kind == WIRE_ORDER_FILTER && r.interface == i);
		assert_int_equal(r.linktype, i ? LINKTYPE_RADIOTAP : LINKTYPE_ETHERNET);
		assert_string_equal(r.filter.text, "tcp port 80");
		assert_int_equal(r.filter.len, 3);
		assert_true(result(0, "") == (i == 1));
	}
	assert_int_equal(t.o.answer.status, ANSWER_DONE);
	assert_string_equal(t.o.answer.text, "filter 'tcp port 80'");
}

static void no_filter(void **state)
{
	static struct ordered r;

	(void)state;
	assert_false(take(0, 1, "set filter"));
	assert_true(asked(&r) && r.filter.len == 0 && r.interface == 0);
	assert_false(result(0, ""));
	assert_true(asked(&r) && r.filter.len == 0 && r.interface == 1);
	assert_true(result(0, ""));
	assert_string_equal(t.o.answer.text, "no filter");
	assert_int_equal(t.asked[0], 0);
}

static void a_filter_that_fails(void **state)
{
	static struct ordered r;

	(void)state;
	t.says.error = -EINVAL;
	snprintf(t.says.why, sizeof(t.says.why), "syntax");
	assert_false(take(0, 1, "set filter tcp or"));
	assert_true(commands_compiled(&t.o));
	assert_int_equal(t.o.answer.status, ANSWER_FAILED);
	assert_string_equal(t.o.answer.text, "eth0: syntax");
	t.says.error = 0;
	assert_false(commands_compiled(&t.o)); /* no request was pending */
	assert_false(asked(&r));

	assert_false(take(0, 2, "set filter tcp"));
	for (int i = 0; i < 3; i++)
		assert_false(commands_compiled(&t.o));
	assert_false(result(0, ""));
	assert_false(commands_compiled(&t.o));
	assert_true(result(-E2BIG, "too long"));
	assert_string_equal(t.o.answer.text, "mon0: too long; the interfaces before it have it");
}

static void the_compiler_ends(void **state)
{
	(void)state;
	assert_false(take(0, 1, "set filter tcp"));
	t.err = -EAGAIN;
	assert_false(commands_compiled(&t.o));
	t.err = -EPIPE;
	assert_true(commands_compiled(&t.o));
	assert_int_equal(t.o.answer.status, ANSWER_FAILED);
	assert_int_equal(t.o.compiler, -1);
	assert_true(take(0, 2, "set filter tcp"));
	assert_int_equal(t.now.status, ANSWER_FAILED);
	assert_false(take(0, 3, "set filter")); /* that takes none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_are_the_sessions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(channels_are_the_samplers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(radios_are_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_collector_counts_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_refused_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_have_to_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_privileged_process_refuses, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_filter_goes_to_all_interfaces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_filter_that_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_compiler_ends, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
