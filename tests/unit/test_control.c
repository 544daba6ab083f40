// SPDX-License-Identifier: GPL-2.0
/* links: collector/control/control.o collector/control/control_listen.o
 * collector/control/commands.o wire/order.o wire/keys.o wire/channel.o */
/* Orders from the control socket to a sensor and back, with a simulated sensor. */
#include "unit.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/control/control.h"
#include "collector/control/groups.h"
#include "collector/network/session_send.h"
#include "common/unix_address.h"

static struct {
	struct control c;
	struct commands d;
	struct network network;
	struct sensor sensors[2];
	struct sensor *listed[2];
	struct sensors list;
	struct sensor_group both, *group;
	struct groups groups;
	struct sensor *many; /* the group's sensors, if any */
	unsigned int many_count;
	int present; /* how many of them are connected, in group "both" */
	struct {     /* groups_hold, groups_held */
		uint32_t ms;
		bool of_group;
		int status;
	} hold, held;
	bool known; /* listed */
	int err;    /* the result of session_send */
	char path[64];
	struct order_message sent[16];
	struct sensor *to[16];
	unsigned int sends;
	uint64_t time;
} t;

int session_send(struct network *o, struct sensor *s, const uint8_t *message, size_t len)
{
	(void)o;
	if (t.err)
		return t.err;
	if (t.many)
		return 0;
	assert_true(t.sends < 16);
	assert_int_equal(order_read(&t.sent[t.sends], message, len), 0);
	t.to[t.sends++] = s;
	return 0;
}

struct sensor *sensors_by_name(struct sensors *s, const char *name)
{
	(void)s;
	for (int i = 0; t.known && i < 2; i++)
		if (!strcmp(t.sensors[i].name, name))
			return &t.sensors[i];
	return NULL;
}

uint64_t handshake_time(struct handshake *m)
{
	(void)m;
	return t.time;
}

void groups_hold(struct sensor *s, bool of_group, uint32_t ms, uint64_t now_ns)
{
	(void)s;
	(void)now_ns;
	t.hold.of_group = of_group;
	t.hold.ms = ms;
}

void groups_held(struct sensor *s, bool of_group, uint32_t ms, int status, uint64_t now_ns)
{
	(void)s;
	(void)now_ns;
	t.held.of_group = of_group;
	t.held.ms = ms;
	t.held.status = status;
}

int groups_order(struct groups *g, const char *name, const struct group_order *k, uint64_t now_ns)
{
	(void)g;
	assert_true(k->until_ns == now_ns + CONTROL_GROUP_NS);
	assert_int_equal(k->focus_ms, strstr(k->text, "focus 6 300") ? 300 : 0);
	for (unsigned int i = 0; i < t.many_count; i++)
		commands_add(&t.d, &t.many[i], k->text, k->until_ns, k->done, k->user);
	if (t.many)
		return t.many_count;
	if (strcmp(name, "both"))
		return -ENOENT;
	for (int i = 0; i < t.present; i++)
		commands_add(&t.d, &t.sensors[i], k->text, k->until_ns, k->done, k->user);
	return t.present;
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.known = true;
	t.time = 1000;
	strcpy(t.sensors[0].name, "lib");
	strcpy(t.sensors[1].name, "yard");
	snprintf(t.path, sizeof(t.path), "/tmp/saluki-control-%d", getpid());
	fd = control_listen(t.path);
	assert_true(fd >= 0);
	t.sensors[0].listed = t.sensors[1].listed = true;
	commands_init(&t.d, &t.network);
	t.listed[0] = &t.sensors[0];
	t.listed[1] = &t.sensors[1];
	t.list = (struct sensors){ .list = t.listed, .count = 2 };
	strcpy(t.both.name, "both");
	t.group = &t.both;
	t.groups = (struct groups){ .list = &t.group, .count = 1 };
	assert_int_equal(control_init(&t.c, fd, &t.d, &t.list, &t.groups), 0);
	assert_true(t.network.answered == commands_answered);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	control_free(&t.c);
	commands_free(&t.d);
	assert_null(t.d.first);
	unlink(t.path);
	free(t.many);
	return 0;
}

static int ask(const char *request, size_t len)
{
	struct sockaddr_un a;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	unix_address(&a, t.path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (len)
		assert_int_equal(send(fd, request, len, MSG_NOSIGNAL), len);
	return fd;
}

/* Accepts clients, reads their orders, and does the work that is due. */
static int serve(uint64_t now_ns)
{
	int silence, due;

	for (int i = 0; i < 4; i++) /* one at a time */
		control_serve(&t.c, now_ns);
	silence = control_tick(&t.c, now_ns);
	do
		due = commands_tick(&t.d, now_ns);
	while (due == 0);
	return due < 0 || (silence >= 0 && silence < due) ? silence : due;
}

static void heard(int fd, const char *reply)
{
	char in[CONTROL_REPLY_MAX + 1] = { 0 };

	assert_true(recv(fd, in, sizeof(in) - 1, 0) > 0);
	assert_string_equal(in, reply);
	assert_int_equal(recv(fd, in, sizeof(in), 0), 0);
	close(fd);
}

static void nothing(int fd)
{
	char c;

	assert_true(recv(fd, &c, 1, 0) < 0 && errno == EAGAIN);
}

static void answer(int sensor, uint64_t number, uint8_t status, const char *text)
{
	commands_answered(&t.d, &t.sensors[sensor], number, status, (const uint8_t *)text,
			  strlen(text));
}

#define ASK(text) ask(text, sizeof(text) - 1)
#define S 1000000000ULL

static void an_order_is_repeated_until_its_answer(void **state)
{
	struct stat st;
	int fd = ASK("lib set snaplen 96");

	(void)state;
	assert_true(stat(t.path, &st) == 0 && (st.st_mode & 0777) == 0600);
	assert_true(serve(S) > 0);
	assert_int_equal(t.sends, 1);
	assert_true(t.sent[0].number == 1000 && t.to[0] == &t.sensors[0]);
	assert_string_equal(t.sent[0].text, "set snaplen 96");
	serve(S + S / 2);
	assert_int_equal(t.sends, 1);
	serve(2 * S);
	assert_int_equal(t.sends, 2);
	assert_true(t.sent[1].number == 1000);
	answer(0, 999, 0, "another");
	answer(1, 1000, 0, "another's");
	answer(0, 0, 0, "none");
	nothing(fd);
	answer(0, 1000, ANSWER_DONE, "snaplen 96");
	heard(fd, "0 snaplen 96");
	assert_int_equal(serve(9 * S), -1);
	assert_int_equal(t.sends, 2);
}

static void a_sensor_has_one_at_a_time(void **state)
{
	int first = ASK("lib set snaplen 96"), other, second;

	(void)state;
	serve(S);
	second = ASK("lib set snaplen 97");
	other = ASK("yard set filter tcp");
	serve(S);
	assert_int_equal(t.sends, 2);
	assert_true(t.to[1] == &t.sensors[1] && t.sent[1].number == 1001);
	answer(0, 1000, ANSWER_FAILED, "no");
	heard(first, "1 no");
	serve(S);
	assert_int_equal(t.sends, 3);
	assert_string_equal(t.sent[2].text, "set snaplen 97");
	assert_true(t.sent[2].number == 1002); /* the clock stands still; numbers rise */
	answer(0, 1002, 0, "two");
	heard(second, "0 two");
	answer(1, 1001, 77, "three");
	heard(other, "1 three");
}

static void who_leaves_is_not_waited_for(void **state)
{
	int first = ASK("lib set snaplen 96"), second;

	(void)state;
	serve(S);
	second = ASK("lib set snaplen 97");
	serve(S);
	close(first);
	serve(S);
	assert_int_equal(t.sends, 2);
	assert_string_equal(t.sent[1].text, "set snaplen 97");
	close(second);
	assert_int_equal(serve(S), -1);
}

static void what_cannot_be_sent(void **state)
{
	int fd = ASK("nobody set snaplen 96");

	(void)state;
	serve(S);
	heard(fd, "1 nobody: no such sensor in the --sensors file");
	fd = ASK("yrad set snaplen 96");
	serve(S);
	heard(fd, "1 yrad: no such sensor in the --sensors file; did you mean yard?");
	t.err = -ENOTCONN;
	fd = ASK("lib set snaplen 96");
	serve(S);
	heard(fd, "1 lib: has no session with this collector now");
	t.err = -EAGAIN; /* no room: soon */
	fd = ASK("lib set snaplen 96");
	assert_true(serve(S) < 100);
	t.err = 0;
	serve(S + 100000000);
	assert_int_equal(t.sends, 1);
	t.sensors[0].listed = false; /* revoked meanwhile */
	serve(3 * S);
	heard(fd, "1 lib: no such sensor in the --sensors file");
}

static void hostile_requests(void **state)
{
	static char longer[CONTROL_REQUEST_MAX + 50];
	static const char *const wrong[] = { "lib", " set snaplen 96", "lib set\nx", "lib \x1b[2J",
					     "a-name-that-is-much-longer-than-any-may-be set" };
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char in[CONTROL_REPLY_MAX];

		fd = ask(wrong[i], strlen(wrong[i]));
		serve(S);
		assert_true(recv(fd, in, sizeof(in), 0) > 0 && in[0] == '1');
		close(fd);
	}
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "lib ", 4);
	fd = ask(longer, sizeof(longer));
	serve(S);
	heard(fd, "1 the order is too long");
	fd = ask(longer, 4 + WIRE_ORDER_TEXT_MAX + 1);
	serve(S);
	heard(fd, "1 the order is too long");
	assert_int_equal(t.sends, 0);
	fd = ask(longer, 4 + WIRE_ORDER_TEXT_MAX);
	serve(S);
	assert_int_equal(t.sends, 1);
	send(fd, "more", 4, MSG_NOSIGNAL); /* it has nothing more to say */
	serve(S);
	assert_int_equal(recv(fd, longer, 1, 0), 0);
	close(fd);
	fd = ask("", 0);
	assert_true(serve(S) > 0);
	assert_int_equal(serve(S + CONTROL_SILENCE_NS), -1);
	assert_int_equal(recv(fd, longer, 1, 0), 0);
	close(fd);
}

static void an_answer_that_is_none(void **state)
{
	static uint8_t longer[ANSWER_TEXT_MAX + 1];
	int fd = ASK("lib set snaplen 96");

	(void)state;
	serve(S);
	memset(longer, 'x', sizeof(longer));
	commands_answered(&t.d, &t.sensors[0], 1000, 0, longer, sizeof(longer));
	answer(0, 1000, 0, "\x1b[2J");
	nothing(fd);
	commands_answered(&t.d, &t.sensors[0], 1000, 0, longer, ANSWER_TEXT_MAX);
	close(fd);
	assert_int_equal(serve(S), -1);
}

static void said(int fd, const char *reply)
{
	char in[CONTROL_REPLY_MAX + 1] = { 0 };

	assert_true(recv(fd, in, sizeof(in) - 1, 0) > 0);
	assert_string_equal(in, reply);
}

static void a_group_answers_one_by_one(void **state)
{
	int fd = ASK("group:none focus 6 300"), other;

	(void)state;
	serve(S);
	heard(fd, "1 none: no such group in the --sensors file");
	fd = ASK("group:bothe set snaplen 96");
	serve(S);
	heard(fd, "1 bothe: no such group in the --sensors file; did you mean both?");
	fd = ASK("group:both focus 6 300");
	serve(S);
	heard(fd, "1 both: none of this group's sensors is present");
	t.present = 2;
	fd = ASK("group:both focus 6 300");
	serve(S);
	assert_true(t.sends == 2 && t.to[0] == &t.sensors[0] && t.to[1] == &t.sensors[1]);
	other = ASK("yard set snaplen 96"); /* behind it */
	serve(S);
	assert_int_equal(t.sends, 2);
	answer(1, 1001, ANSWER_DONE, "channel 6");
	said(fd, "2 yard: channel 6");
	serve(S);
	assert_int_equal(t.sends, 3);
	answer(0, 1000, ANSWER_FAILED, "no");
	said(fd, "3 lib: no");
	heard(fd, "1 1 of 2 sensors have done it");
	answer(1, 1002, ANSWER_DONE, "snaplen 96");
	heard(other, "0 snaplen 96");
	fd = ASK("group:both focus 6 300");
	serve(S);
	answer(0, 1003, ANSWER_DONE, "yes");
	said(fd, "2 lib: yes");
	serve(S + CONTROL_GROUP_NS); /* the other sensor does not answer */
	said(fd, "3 yard: no answer; it may have been carried out");
	heard(fd, "1 1 of 2 sensors have done it");
	assert_int_equal(serve(9 * S), -1);
	other = ASK("lib set snaplen 96");
	serve(S);
	fd = ASK("group:both focus 6 300");
	serve(S);
	answer(1, 1006, ANSWER_DONE, "yes");
	said(fd, "2 yard: yes");
	serve(S + CONTROL_GROUP_NS); /* lib is busy all the time */
	said(fd, "3 lib: not sent: another order is under way");
	heard(fd, "1 1 of 2 sensors have done it");
	answer(0, 1005, ANSWER_DONE, "snaplen 96");
	heard(other, "0 snaplen 96");
	t.present = 1;
	t.err = -EAGAIN; /* never sent, so not carried out either */
	fd = ASK("group:both focus 6 300");
	serve(S);
	serve(S + CONTROL_GROUP_NS);
	said(fd, "3 lib: not sent: it was not heard meanwhile");
	assert_int_equal(t.held.status, COMMANDS_UNSENT);
	heard(fd, "1 0 of 1 sensors have done it");
	t.err = 0;
	t.present = 2;
	fd = ASK("group:both focus 6 300");
	serve(9 * S);
	close(fd); /* no client waits any more */
	assert_int_equal(serve(9 * S), -1);
}

static void a_focus_holds_rules_off(void **state)
{
	int fd = ASK("lib focus 6 1500");

	(void)state;
	serve(S);
	assert_true(t.hold.ms == 1500 && !t.hold.of_group && !t.held.ms);
	answer(0, 1000, ANSWER_FAILED, "no");
	heard(fd, "1 no");
	assert_true(t.held.ms == 1500 && !t.held.of_group && t.held.status == ANSWER_FAILED);
	t.present = 1;
	fd = ASK("group:both focus 6 300");
	serve(S);
	answer(0, 1001, ANSWER_DONE, "yes");
	assert_true(t.held.ms == 300 && t.held.of_group && t.held.status == ANSWER_DONE);
	close(fd);
	t.hold.ms = t.held.ms = 0;
	fd = ASK("lib set channels 6");
	serve(S);
	answer(0, 1002, ANSWER_DONE, "yes");
	heard(fd, "0 yes");
	assert_true(!t.hold.ms && !t.held.ms);
}

static void answer_of(struct sensor *s, const char *text)
{
	commands_answered(&t.d, s, s->order->number, ANSWER_DONE, (const uint8_t *)text,
			  strlen(text));
}

/* Orders are answered before the client reads; without a text they are not. */
static int ask_many(unsigned int count, const char *text)
{
	int fd = ASK("group:many set snaplen 96");

	free(t.many);
	t.many = calloc(count, sizeof(*t.many));
	t.many_count = count;
	assert_non_null(t.many);
	for (unsigned int i = 0; i < count; i++)
		t.many[i].listed = true;
	serve(S);
	for (unsigned int i = 0; text && i < count; i++)
		answer_of(&t.many[i], text);
	assert_true(!text || commands_tick(&t.d, S) == -1); /* it knows none of them any more */
	return fd;
}

/* Returns the number of answers before the last word. */
static int read_many(int fd, const char *last)
{
	char in[CONTROL_REPLY_MAX + 1];
	bool has_ended = false;
	int one = 0, n;

	for (;;) {
		n = recv(fd, in, sizeof(in) - 1, 0);
		if (n < 0) { /* the socket is drained */
			assert_int_equal(errno, EAGAIN);
			serve(S);
			continue;
		}
		if (!n)
			break;
		assert_false(has_ended);
		in[n] = 0;
		one += *in == CONTROL_ONE_DONE;
		has_ended = *in == CONTROL_DONE;
		if (has_ended)
			assert_string_equal(in, last);
	}
	assert_true(has_ended);
	close(fd);
	return one;
}

static void a_thousand_answer_at_once(void **state)
{
	static char longest[ANSWER_TEXT_MAX + 1];
	int fd = ask_many(1000, "done"), left_out;

	(void)state;
	assert_int_equal(read_many(fd, "0 1000 of 1000 sensors have done it"), 1000);
	memset(longest, 'x', ANSWER_TEXT_MAX);
	fd = ask_many(1000, longest);
	assert_int_equal(read_many(fd, "0 1000 of 1000 sensors have done it"), 1000);
	assert_int_equal(serve(S), -1);
	/* There is no room for another packet, except for the last word. */
	longest[490] = 0;
	assert_true(CONTROL_WAITING_MAX % (6 + strlen(longest)) < 50);
	fd = ask_many(4000, longest);
	assert_true(t.c.clients[0].waiting_len <= CONTROL_WAITING_MAX + 2 + CONTROL_REPLY_MAX);
	assert_true(t.c.clients[0].left_out > 0);
	snprintf(longest, sizeof(longest),
		 "0 4000 of 4000 sensors have done it; %u answers were not read in time",
		 t.c.clients[0].left_out);
	left_out = t.c.clients[0].left_out;
	assert_int_equal(read_many(fd, longest), 4000 - left_out);
	assert_int_equal(serve(S), -1);
}

static void what_was_read_is_not_watched(void **state)
{
	struct pollfd p = { .events = POLLIN };
	char in[CONTROL_REPLY_MAX];
	int fd = ask_many(1001, NULL), one = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		answer_of(&t.many[i], "done");
	p.fd = t.c.epoll;
	for (; one < 1000; serve(S))
		while (recv(fd, in, sizeof(in), 0) > 0)
			one++;
	serve(S);
	assert_int_equal(poll(&p, 1, 0), 0);
	answer_of(&t.many[1000], "done");
	assert_int_equal(read_many(fd, "0 1001 of 1001 sensors have done it"), 1);
}

static void who_does_not_read_is_left(void **state)
{
	int fd = ask_many(1000, "done");

	(void)state;
	assert_true(serve(S) > 4000);
	serve(S + CONTROL_SILENCE_NS - 1);
	assert_true(t.c.clients[0].fd >= 0);
	assert_int_equal(serve(S + CONTROL_SILENCE_NS), -1);
	assert_int_equal(t.c.clients[0].fd, -1);
	close(fd);
	fd = ask_many(1000, "done");
	close(fd); /* or leaves by itself */
	assert_int_equal(serve(S), -1);
	assert_int_equal(t.c.clients[0].fd, -1);
}

static void more_than_there_is_room_for(void **state)
{
	int fds[CONTROL_CLIENTS + 1];

	(void)state;
	for (int i = 0; i <= CONTROL_CLIENTS; i++) {
		fds[i] = ASK("lib set snaplen 96");
		serve(S);
	}
	assert_int_equal(t.sends, 1);
	heard(fds[CONTROL_CLIENTS], "1 too many orders are waited for; try again");
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		close(fds[i]);
	serve(S);
	assert_int_equal(serve(S), -1);
}

static void a_socket_that_is_used_stays(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(control_listen(t.path), -EADDRINUSE);
	control_free(&t.c);
	fd = control_listen(t.path); /* left by a killed collector */
	assert_true(fd >= 0);
	close(fd);
	unlink(t.path);
	fclose(fopen(t.path, "w")); /* another's file */
	assert_int_equal(control_listen(t.path), -EADDRINUSE);
	assert_int_equal(access(t.path, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_order_is_repeated_until_its_answer, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_sensor_has_one_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_leaves_is_not_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_sent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_answer_that_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_group_answers_one_by_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_holds_rules_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thousand_answer_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_read_is_not_watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_does_not_read_is_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_than_there_is_room_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_socket_that_is_used_stays, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
