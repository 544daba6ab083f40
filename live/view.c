// SPDX-License-Identifier: GPL-2.0
/* View: see view.h. */
#include "view.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "change.h"
#include "connect.h"
#include "sandbox.h"
#include "say.h"
#include "take.h"

#define POLL_MS 20
#define RECORDS_A_TURN 1024
#define ASK_NS 1000000000ULL
#define STATISTICS_NS 10000000000ULL
#define LOSS_NS 1000000000ULL
#define PAUSE_NS 110000000ULL
#define MISSED_TRIES 100

static volatile sig_atomic_t stop;

struct view {
	const struct live_options *o;
	int helper;
	struct source source;
	struct reader reader;
	struct take take;
	struct toolbar toolbar;
	bool asked;			/* for a collector; the answer has not come */
	uint64_t ask_ns;		/* monotonic: when to ask again */
	uint64_t told_ns, told;		/* monotonic: the last statistics; frames then */
	uint64_t accepted_ns, accepted; /* monotonic: the last frame; frames then */
};

/* ---- signals --------------------------------------------------------------------------------- */

static void on_signal(int signo)
{
	const struct itimerval patience = { .it_value.tv_sec = 1, .it_interval.tv_sec = 1 };

	if (signo == SIGALRM)
		stop = STREAM_GIVE_UP;
	else if (!stop)
		stop = 1;
	setitimer(ITIMER_REAL, &patience, NULL);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
	struct sigaction a = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- the collector --------------------------------------------------------------------------- */

static int attach(struct view *v, bool again)
{
	int err = reader_begin(&v->reader, &v->source, again);

	take_source(&v->take, &v->source);
	if (err)
		log_line("out of memory");
	else if (again)
		say("the collector is there again");
	return err;
}

static void detach(struct view *v)
{
	take_statistics(&v->take); /* by this collector's numbers of sensors */
	reader_end(&v->reader);
	source_unmap(&v->source);
	take_source(&v->take, NULL);
	v->ask_ns = monotonic_ns() + ASK_NS;
	say("the collector has ended; waiting until it is started again");
}

static bool has_ended(const struct view *v)
{
	struct pollfd p = { .fd = v->source.end };

	return poll(&p, 1, 0) > 0 && p.revents;
}

/* Asks once a second. */
static int reattach(struct view *v, bool answered)
{
	int err;

	if (answered) {
		v->asked = false;
		v->ask_ns = monotonic_ns() + ASK_NS;
		err = connect_take(v->helper, &v->source);
		if (err == -EPIPE || err == -EPROTO)
			return err;
		return err ? 0 : attach(v, true);
	}
	if (v->asked || monotonic_ns() < v->ask_ns)
		return 0;
	v->asked = true;
	return connect_ask(v->helper);
}

/* ---- one turn -------------------------------------------------------------------------------- */

/* Takes the records that are there. Returns 0, -EAGAIN if more may be there, or another -errno. */
static int take_records(struct view *v)
{
	struct live_record record;
	const uint8_t *blocks;
	uint64_t missed;
	int got;

	for (int i = 0; i < RECORDS_A_TURN; i++) {
		got = reader_next(&v->reader, &record, &blocks, &missed);
		if (got == READER_NOTHING)
			return 0;
		if (got == READER_RECORD)
			got = take_record(&v->take, &record, blocks, missed);
		if (got < 0)
			return got;
		if (take_is_done(&v->take))
			return 0;
	}
	return -EAGAIN;
}

static void count_missed(struct view *v)
{
	if (v->reader.source && v->reader.overrun)
		reader_missed(&v->reader, take_missed, &v->take);
}

/* Whether there is a pause after written frames. dumpcap shows a frame when it reads the next
 * block, if that block comes at least 100 ms later. Otherwise it shows the frame after 250 ms. */
static bool is_pause(struct view *v, uint64_t now)
{
	if (v->accepted != v->take.accepted)
		v->accepted_ns = now;
	v->accepted = v->take.accepted;
	return v->accepted != v->told && now - v->accepted_ns >= PAUSE_NS;
}

static void tell(struct view *v)
{
	uint64_t now = monotonic_ns();
	bool pause = is_pause(v, now);

	if (!pause && now - v->told_ns < (v->take.lost ? LOSS_NS : STATISTICS_NS))
		return;
	v->told_ns = now;
	v->told = v->take.accepted;
	take_statistics(&v->take);
}

static int turn(struct view *v, bool answered)
{
	int err;

	if (!v->source.ring)
		return reattach(v, answered);
	take_directory(&v->take);
	err = take_records(v);
	if (!err)
		count_missed(v);
	/* The memories still have the collector's last records. */
	if (!err && has_ended(v) && !(err = take_records(v))) {
		count_missed(v);
		detach(v);
	}
	return err;
}

/* ---- start and end --------------------------------------------------------------------------- */

static int loop(struct view *v)
{
	int err = 0;

	while (!stop && !take_is_done(&v->take) && !stream_has_ended(&v->take.stream)) {
		struct pollfd p = { .fd = v->asked ? v->helper : -1, .events = POLLIN };

		if (err != -EAGAIN)
			poll(&p, 1, POLL_MS);
		err = turn(v, p.revents);
		if (err && err != -EAGAIN)
			return err;
		change(&v->take, &v->toolbar);
		tell(v);
		stream_flush(&v->take.stream);
	}
	return 0;
}

static void finish(struct view *v)
{
	for (int i = 0; v->reader.source && v->reader.overrun && i < MISSED_TRIES; i++)
		count_missed(v);
	take_statistics(&v->take);
	stream_flush(&v->take.stream);
	if (!v->o->extcap)
		take_report(&v->take);
}

static int first(struct view *v)
{
	int err = connect_ask(v->helper) ?: connect_take(v->helper, &v->source);

	if (err) {
		connect_explain(v->o->collector, err);
		return err;
	}
	err = attach(v, false);
	while (!err && !v->take.directory.list && !stop && !has_ended(v)) {
		take_directory(&v->take);
		if (!v->take.directory.list)
			poll(NULL, 0, POLL_MS); /* the collector is changing it */
	}
	return err || !v->take.directory.list ? err : take_check(&v->take);
}

int view(const struct live_options *o, int helper, int fd, const char *name)
{
	struct view *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (!v || take_init(&v->take, o)) {
		free(v);
		return 1;
	}
	v->o = o;
	v->helper = helper;
	v->source.end = -1;
	v->take.stream.fd = fd;
	v->take.stream.name = name;
	v->take.stream.stop = &stop;
	toolbar_open(&v->toolbar, o->control_in, o->control_out);
	if (o->extcap)
		say_to(&v->toolbar);
	catch_signals();
	err = first(v) ?: sandbox_viewer();
	if (!err) {
		stream_begin(&v->take.stream);
		stream_flush(&v->take.stream);
		v->told_ns = monotonic_ns();
		if (!o->extcap)
			log_line("looking at the collector %s, writing to %s", o->collector, name);
		err = loop(v);
		finish(v);
	}
	if (err == -EBADMSG)
		log_line("what the collector shows is malformed; is it another version, or was it "
			 "taken over?");
	err = err ?: v->take.stream.err;
	reader_end(&v->reader);
	source_unmap(&v->source);
	take_free(&v->take);
	free(v);
	return err ? 1 : 0;
}
