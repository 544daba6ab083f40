// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/session.o agent/source/clock.o agent/queue.o wire/seal.o wire/keys.o
 * wire/combo.o wire/forms.o wire/fields.o wire/info.o */
/*
 * What the sensor hears, from strangers and from its collector gone bad: answers and receipts.
 * Always holds: a stranger's datagram changes nothing but the counter of bad ones; only the right
 * answer to the last INIT begins a session, and only once; only a receipt in its one form is taken.
 */
#include <sys/socket.h>

#include "agent/export/session.h"
#include "fuzz_random.h"
#include "wire/piece.h"

#define SENSOR_ID 7

static struct keypair own, collector;
static __u64 exported;

struct state {
	struct session s;
	int peer; /* the collector's end of the socket */
	struct seal_session seal;
	uint8_t init[SEAL_INIT_MAX], answer[SEAL_ANSWER_LEN]; /* the last of each */
	long init_len;
	bool answered, unused; /* the present INIT; its answer was not delivered yet */
	uint64_t now_ns;
};

static void setup(struct state *s)
{
	int ends[2];

	CHECK(session_init(&s->s, "127.0.0.1", "9", &own, collector.public) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	close(s->s.sock);
	s->s.sock = ends[0];
	s->peer = ends[1];
	s->s.exported = &exported;
	s->now_ns = 1;
}

static void deliver(struct state *s, const uint8_t *datagram, size_t len)
{
	CHECK(send(s->peer, datagram, len, 0) == (ssize_t)len);
	session_receive(&s->s);
}

/* Time passes; an INIT may come of it. */
static void tick(struct state *s, uint64_t ns)
{
	long n;

	s->now_ns += ns;
	session_tick(&s->s, s->now_ns);
	while ((n = recv(s->peer, s->init, sizeof(s->init), 0)) > 0) {
		s->init_len = n;
		s->answered = s->unused = false;
	}
}

static void answer(struct state *s)
{
	struct seal_responder r;
	unsigned int generation = s->s.generation;

	if (!s->init_len)
		return;
	if (!s->answered) {
		CHECK(seal_accept(&r, &collector, s->init, s->init_len) == 0);
		CHECK(r.info_len <= SEAL_INFO_MAX && r.run == s->s.run);
		seal_answer(&r, &s->seal, s->answer, 1, SENSOR_ID);
		s->answered = s->unused = true;
	}
	deliver(s, s->answer, sizeof(s->answer));
	CHECK(s->s.generation == generation + s->unused);
	s->unused = false;
	CHECK(s->s.sensor_id == SENSOR_ID);
	CHECK(!memcmp(s->s.tx.key, s->seal.rx.key, KEY_LEN));
}

static void stranger(struct state *s, struct fuzz_input *in)
{
	struct session before = s->s;
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 2) % 1500, &len);

	deliver(s, p, len);
	before.bad_datagrams++;
	CHECK(!memcmp(&before, &s->s, sizeof(before)));
}

static void gone_bad(struct state *s, struct fuzz_input *in)
{
	uint8_t out[1500];
	uint64_t bad = s->s.bad_datagrams;
	bool receipt, same = s->answered && !s->unused;
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 1), &len);

	receipt = same && len == RECEIPT_LEN && p[0] == PIECE_RECEIPT;
	deliver(s, out, seal_datagram(&s->seal.tx, out, p, len));
	if (receipt)
		CHECK(s->s.bad_datagrams == bad && s->s.heard == load_be(p + 1, 8) &&
		      s->s.first_send_ns == 0);
	else if (same)
		CHECK(s->s.bad_datagrams == bad + 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_keypair(&own);
	fuzz_keypair(&collector);
	fuzz_quiet();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	static struct state s;

	memset(&s, 0, sizeof(s));
	fuzz_random_state = 1;
	setup(&s);
	while (in.p < in.end) {
		switch (fuzz_number(&in, 1) & 7) {
		case 0:
			stranger(&s, &in);
			break;
		case 1:
			gone_bad(&s, &in);
			break;
		case 2:
			answer(&s);
			break;
		case 3:
			tick(&s, fuzz_number(&in, 2) * 1000000ULL);
			break;
		case 4:
			session_sent(&s.s, s.now_ns);
			break;
		case 5:
			session_refused(&s.s);
			break;
		}
	}
	close(s.peer);
	session_free(&s.s);
	return 0;
}
