// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/session.o agent/export/session_keys.o agent/export/session_link.o
 * agent/export/instance.o agent/export/handshake.o agent/export/handshake_answer.o
 * agent/export/failure_reason.o agent/export/handshake_slots.o agent/export/session_receive.o
 * agent/export/session_mailbox.o agent/export/sockets.o agent/capture/queue.o agent/source/clock.o
 * wire/tryst.o wire/shroud.o wire/table.o wire/derive.o wire/keys.o wire/request.o wire/info.o
 * wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o wire/fields.o */
/*
 * Answers and messages to the sensor, from strangers and from a bad collector. Always holds: a
 * stranger's datagram changes only the counter of bad ones; only the right answer to the last
 * handshake message begins a session, and only once; a bad collector's messages end no session and
 * have bounded effects.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "agent/export/session.h"
#include "fuzz_random.h"

#define SECOND_NS 1000000000ULL
#define TODAY_NS (1800000000 * SECOND_NS)

static struct keypair own, collector;
static uint8_t pair[KEY_LEN];
static __u64 exported;
static int sock; /* the collector's */
static char port[8];
static uint64_t ordered;

static struct state {
	struct session s;
	struct session_path path;
	uint8_t init[SHROUD_DATAGRAM_MAX], answer[SHROUD_DATAGRAM_MAX]; /* the last of each */
	long init_len, answer_len;
	bool fresh; /* the answer to the present handshake has not been delivered yet */
	struct shroud_tx tx;
	uint8_t chain[KEY_LEN], next_k2[KEY_LEN];
	uint64_t now_ns;
} state;

static uint64_t realtime(void)
{
	return TODAY_NS + state.now_ns;
}

static void take_order(void *arg, uint64_t number, const char *text, size_t len)
{
	(void)arg;
	ordered += number + len + (len ? text[len - 1] : 0);
}

static void setup(struct state *s)
{
	const struct sockets_name to = { .host = "127.0.0.1", .port = port };
	struct keys_peers peers = { .count = 1 };

	memcpy(peers.peer[0].public, collector.public, KEY_LEN);
	CHECK(session_init(&s->s, &to, 1, &own, &peers) == 0);
	s->s.exported = &exported;
	s->s.realtime_ns = realtime;
	s->s.order = take_order;
	s->s.renew_ns = 20 * SECOND_NS;
	s->now_ns = 1;
}

/* Time passes; a handshake or a request may follow. */
static void tick(struct state *s, uint64_t ns)
{
	uint8_t in[SHROUD_DATAGRAM_MAX];
	struct tryst_hello hello;
	long n;

	s->now_ns += ns;
	session_tick(&s->s, s->now_ns);
	while ((n = recv(sock, in, sizeof(in), MSG_DONTWAIT)) >= 0) {
		if (n < TRYST_INIT_MIN || tryst_accept(&hello, pair, in, n))
			continue;
		memcpy(s->init, in, n);
		s->init_len = n;
		s->answer_len = 0;
	}
}

static void hear(struct state *s, const uint8_t *in, size_t len)
{
	uint8_t *copy = fuzz_copy(in, len);

	session_receive_datagram(&s->s, copy, len, s->now_ns);
	fuzz_free(copy);
}

static void make_answer(struct state *s)
{
	struct tryst_welcome welcome = { .time_ns = realtime(), .window = 64, .sensor_id = 7 };
	struct shroud_keys up, down;
	struct tryst_hello hello;
	uint8_t k2[KEY_LEN];

	CHECK(tryst_accept(&hello, pair, s->init, s->init_len) == 0);
	CHECK(hello.run == s->s.run && hello.info_len <= TRYST_INFO_MAX);
	s->answer_len = tryst_answer(s->answer, k2,
				     &(struct tryst_keys){ &collector, own.public, pair }, &hello,
				     &welcome, s->init, s->init_len);
	CHECK(s->answer_len > 0);
	tryst_session(k2, &up, &down, s->chain);
	shroud_tx_init(&s->tx, &down);
	s->fresh = true;
}

static void answer(struct state *s)
{
	unsigned int generation = s->s.path.generation;

	if (!s->init_len)
		return;
	if (!s->answer_len)
		make_answer(s);
	hear(s, s->answer, s->answer_len);
	CHECK(s->s.path.generation == generation + s->fresh);
	s->fresh = false;
	CHECK(s->s.path.sensor_id == 7 && s->s.path.window == 64);
}

static void stranger(struct state *s, struct fuzz_input *in)
{
	struct session before = s->s;
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 2) % 1500, &len);

	hear(s, p, len);
	before.bad_datagrams++;
	CHECK(!memcmp(&before, &s->s, sizeof(before)));
}

/* An authentic message with any content. */
static void gone_bad(struct state *s, struct fuzz_input *in)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	unsigned int generation = s->s.path.generation;
	bool up = s->s.up;
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 1), &len);

	if (!s->answer_len || s->fresh || !len)
		return;
	hear(s, out, shroud_seal(&s->tx, out, p, len, 0));
	/* Anyone's key may give a session, but only a requested one. */
	CHECK(s->s.up == up && s->s.path.generation - generation <= 1);
	CHECK(s->s.acks_count <= SESSION_ACKS);
}

static void renewed(struct state *s)
{
	uint8_t message[MESSAGE_RENEWED_LEN] = { MESSAGE_RENEWED }, out[SHROUD_DATAGRAM_MAX];
	unsigned int generation = s->s.path.generation;
	struct shroud_keys up, down;
	struct keypair e;

	if (!s->answer_len || s->fresh || !s->s.renewing || s->s.present->since_ns > s->now_ns)
		return;
	fuzz_keypair(&e);
	memcpy(message + 1, s->s.renewal.public, KEY_LEN);
	memcpy(message + 1 + KEY_LEN, e.public, KEY_LEN);
	CHECK(tryst_renew(s->next_k2, s->chain, &e, s->s.renewal.public, false) == 0);
	hear(s, out, shroud_seal(&s->tx, out, message, sizeof(message), 0));
	if (s->s.path.generation == generation)
		return; /* another session's, or too far ahead */
	tryst_session(s->next_k2, &up, &down, s->chain);
	shroud_tx_init(&s->tx, &down);
}

static void export(struct state *s)
{
	uint8_t message[MESSAGE_MAX];
	struct ack ack;
	unsigned int n = 0;

	session_use(&s->s, &s->path);
	while (session_outbox(&s->s, s->path.generation, message))
		CHECK(++n <= SESSION_OUTBOX);
	session_ack(&s->s, s->path.generation, &ack);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_keypair(&own);
	fuzz_keypair(&collector);
	CHECK(tryst_pair(pair, &collector, own.public, false, NULL) == 0);
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(bind(sock, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(getsockname(sock, (struct sockaddr *)&at, &len) == 0);
	snprintf(port, sizeof(port), "%u", ntohs(at.sin_port));
	fuzz_quiet();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	struct state *s = &state;

	memset(s, 0, sizeof(*s));
	fuzz_random_state = 1;
	setup(s);
	while (in.p < in.end) {
		switch (fuzz_number(&in, 1) & 7) {
		case 0:
			stranger(s, &in);
			break;
		case 1:
			gone_bad(s, &in);
			break;
		case 2:
			answer(s);
			break;
		case 3:
			tick(s, fuzz_number(&in, 2) * 1000000ULL);
			break;
		case 4:
			session_sent(&s->s, s->now_ns);
			break;
		case 5:
			session_refused(&s->s);
			break;
		case 6:
			renewed(s);
			break;
		case 7:
			export(s);
			break;
		}
	}
	session_free(&s->s);
	return 0;
}
