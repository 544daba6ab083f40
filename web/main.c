// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-web: serves a page about all sensors, and metrics. The collector's state passes through:
 *
 *     board ─▶ connect ─▶ look ─▶ resources: metrics, api ─▶ answers ─▶ server ─▶ client
 *                           └──▶ history                                  └─ request, clients
 *
 * connect is a separate process. All other stages are in one process without threads, in a sandbox.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "connect.h"
#include "listen.h"
#include "sandbox.h"
#include "server.h"

enum { HELPER, SIGNALS, SERVER, POLLED };

/* Returns a descriptor that is readable once the program is told to stop. */
static int signals_open(void)
{
	sigset_t set;
	int fd;

	privsep_block_signals(&set);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		log_line("signalfd: %s", strerror(errno));
	return fd;
}

/* Serves until a signal comes. Returns 0 or -errno. */
static int serve(struct server *s, int signals)
{
	struct look *l = s->look;
	struct pollfd p[POLLED] = { [HELPER] = { l->helper, POLLIN, 0 },
				    [SIGNALS] = { signals, POLLIN, 0 },
				    [SERVER] = { server_fd(s), POLLIN, 0 } };
	uint64_t tick_ns = 0;
	int err = 0;

	while (!err && !p[SIGNALS].revents) {
		uint64_t now = monotonic_ns(), due;

		if (now >= tick_ns) {
			err = look_tick(l, now);
			clients_tick(&s->clients, now);
			tick_ns = now + LOOK_TICK_NS;
		}
		due = server_due_ns(s, now);
		poll(p, POLLED, monotonic_timeout(due < tick_ns ? due : tick_ns, now));
		if (p[HELPER].revents && !err)
			err = look_answer(l, monotonic_ns());
		server_run(s);
	}
	return err;
}

static int run(const struct web_options *o, int listener, int helper, int signals)
{
	struct look look;
	struct server server = { .look = &look, .options = o };
	int err;

	err = look_init(&look, o->board, helper) ?: server_start(&server, listener);
	if (err)
		return err;
	err = sandbox_server(o->user);
	if (!err) {
		log_info("listening on %s", o->listen);
		err = serve(&server, signals);
	}
	server_stop(&server);
	look_free(&look);
	return err;
}

int main(int argc, char **argv)
{
	struct web_options o;
	int status, signals, listener, helper;

	descriptors_open_standard();
	status = options_parse(&o, argc, argv);
	if (status)
		return status < 0 ? 0 : status;
	log_start(o.level);
	if (privsep_check(o.user))
		return 1;
	signals = signals_open();
	listener = signals < 0 ? -1 : listen_open(&o);
	helper = listener < 0 ? -1 : connect_start(o.board, listener);
	if (helper < 0)
		return 1;
	return run(&o, listener, helper, signals) ? 1 : 0;
}
