// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-collector. A datagram's way, and where to read it:
 *
 *     ─▶ receive ─▶ open ─▶ take ─▶ reassemble ─▶ decompress ─▶ split ─▶ pcapng ─▶ file
 *        receive.c  open.c  take.c  reassemble.c  decompress.c  wire/   output.c  files.c
 *                   meet.c                                      combo.c pcapng.c  (privileged)
 *                   wire/tryst.c, shroud.c
 *
 * Two processes: the privileged one opens files and takes signals, the other one does the rest
 * without any privilege.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>
#include <saluki/privsep.h>

#include "control.h"
#include "ctl.h"
#include "decompress.h"
#include "files.h"
#include "open.h"
#include "options.h"
#include "orders.h"
#include "output.h"
#include "receive.h"
#include "sandbox.h"
#include "sensors.h"
#include "stats.h"

#define STATS_INTERVAL_NS 1000000000ULL
#define DRAIN_NS 1000000000ULL

struct collector {
	const struct collector_options *o;
	struct receive receive;
	struct sensors_file sensors_file; /* until the sensors are made of it */
	struct sensors sensors;
	struct decompress decompress;
	struct output output;
	struct open open;
	struct control control;
	struct orders orders; /* from the privileged process */
	int files;	      /* socket to it */
	int listener;	      /* of the control socket, -1: none */
	uint64_t next_stats_ns;
};

/* ---- the unprivileged process ---------------------------------------------------------------- */

static int earlier(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* What is due by now. Returns milliseconds until it must be called again, -1: whenever. */
static int collector_tick(struct collector *c)
{
	uint64_t now = monotonic_ns();
	int timeout = output_tick(&c->output, now); /* what it has settled is then acknowledged */

	timeout = earlier(timeout, open_tick(&c->open, now));
	timeout = earlier(timeout, control_tick(&c->control, now));
	if (!c->o->stats_file)
		return timeout;
	if (now >= c->next_stats_ns) {
		c->next_stats_ns = now + STATS_INTERVAL_NS;
		stats_write(&c->open, &c->receive, c->files);
	}
	return earlier(timeout, (int)((c->next_stats_ns - now) / 1000000) + 1);
}

static int collector_receive(struct collector *c)
{
	int n = receive_batch(&c->receive);
	uint64_t now = monotonic_ns();

	if (n)
		open_batch(&c->open);
	for (int i = 0; i < n; i++)
		open_prefetch(&c->open, c->receive.datagrams[i], c->receive.messages[i].msg_len);
	for (int i = 0; i < n; i++) {
		struct mmsghdr *m = &c->receive.messages[i];

		open_datagram(&c->open, c->receive.datagrams[i], m->msg_len, &c->receive.from[i],
			      m->msg_hdr.msg_namelen, now);
	}
	return n;
}

/* With a mistake in the file, the list stays as it is. */
static void collector_reload(struct collector *c)
{
	struct sensors_file f;
	struct files_answer a;
	int fd, err = files_ask(c->files, FILES_SENSORS, &a, &fd);

	if (err)
		log_line("--sensors %s: %s", c->o->sensors_file, strerror(-err));
	else
		err = sensors_file_read(&f, fd, c->o->sensors_file);
	if (err) {
		log_line("the sensors stay as they are");
		return;
	}
	if (open_sensors(&c->open, &f) == 0)
		log_line("--sensors %s: read again, %u sensors", c->o->sensors_file, f.count);
	sensors_file_free(&f);
}

/* What the privileged process wants. */
static void collector_orders(struct collector *c)
{
	orders_take(&c->orders);
	if (c->orders.report)
		stats_print(&c->open, &c->receive);
	if (c->orders.reload)
		collector_reload(c);
	c->orders.report = c->orders.reload = false;
}

static void collector_loop(struct collector *c)
{
	struct pollfd p[3] = {
		{ .fd = c->receive.sock, .events = POLLIN },
		{ .fd = c->orders.sock, .events = POLLIN },
		{ .fd = c->control.epoll, .events = POLLIN },
	};
	uint64_t until;

	for (;;) {
		int timeout = collector_tick(c); /* may find that the pipe's reader has left */

		if (c->orders.stop || c->output.gone || (poll(p, 3, timeout) < 0 && errno != EINTR))
			break;
		collector_orders(c);
		if (p[0].revents)
			collector_receive(c);
		if (p[2].revents)
			control_serve(&c->control, monotonic_ns());
	}
	/* What the kernel holds was on the way already; who has said its last word is answered. */
	until = monotonic_ns() + DRAIN_NS;
	while (collector_receive(c) > 0 && monotonic_ns() < until)
		open_tick(&c->open, monotonic_ns());
	open_overdue(&c->open, monotonic_ns());
	output_finish(&c->output);
	open_finish(&c->open);
	if (c->o->stats_file)
		stats_write(&c->open, &c->receive, c->files);
	stats_print(&c->open, &c->receive);
}

/* What earlier collectors wrote must be known before a sensor is heard. */
static int collector_begin(struct collector *c)
{
	int err = output_init(&c->output, c->o, &c->sensors, c->files, &c->orders);

	if (err)
		return err;
	open_init(&c->open, c->output.state.floor_ns);
	err = open_sensors(&c->open, &c->sensors_file);
	sensors_file_free(&c->sensors_file);
	return err;
}

/* There may be 10,000 sensors' keys. */
static void lock_keys(struct collector *c)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	keys_lock(&c->open.meet, sizeof(c->open.meet));
}

static int collector_process(struct collector *c)
{
	int status = 1;

	lock_keys(c);

	c->open.sock = c->receive.sock;
	c->open.sensors = &c->sensors;
	c->open.decompress = &c->decompress;
	c->open.output = &c->output;
	if (control_init(&c->control, c->listener, &c->open) || privsep_drop(c->o->user) ||
	    sandbox_receiving())
		return 1;
	if (decompress_init(&c->decompress))
		log_line("out of memory");
	else if (collector_begin(c) == 0) {
		log_line("listening on %s:%s, writing to %s", c->o->host ? c->o->host : "*",
			 c->o->port, c->output.name);
		collector_loop(c);
		/* A reader of the pipe that has left is an end like any other. */
		status = c->output.broken && !c->output.gone;
	}
	control_free(&c->control);
	decompress_free(&c->decompress);
	open_free(&c->open);
	sensors_free(&c->sensors);
	return status;
}

/* ---- the privileged process ------------------------------------------------------------------ */

static void forward_signals(int signals, int orders, pid_t child)
{
	static uint64_t stop_ns;
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) == sizeof(si)) {
		uint8_t order = si.ssi_signo == SIGUSR1	 ? ORDER_REPORT
				: si.ssi_signo == SIGHUP ? ORDER_RELOAD
							 : ORDER_STOP;

		if (si.ssi_signo == SIGCHLD)
			continue;
		privsep_send(orders, &order, sizeof(order), NULL, 0);
		if (order == ORDER_STOP && privsep_insists(&stop_ns))
			kill(child, SIGKILL); /* asked twice: whatever it hangs on */
	}
}

/* Serves the other process until it has ended; returns its exit status. */
static int privileged_process(struct files *files, int orders, int files_sock, int signals,
			      pid_t child)
{
	struct pollfd p[2] = {
		{ .fd = files_sock, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return 1;
		if (p[1].revents)
			forward_signals(signals, orders, child);
		if (p[0].revents && files_answer(files, files_sock))
			p[0].fd = -1;
	}
	if (WIFSIGNALED(status))
		log_line("the receiving process was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int read_key(struct keypair *own, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	const char *why;

	if (fd < 0) {
		log_line("--key %s: %s", path, strerror(errno));
		return -errno;
	}
	if (!keys_private(fd))
		log_line("warning: --key %s: others can read it; chmod 600 %s", path, path);
	err = keys_read(fd, own, NULL, &why);
	close(fd);
	if (err)
		log_line("--key %s: %s", path, why);
	return err;
}

static int read_sensors(struct sensors_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		log_line("--sensors %s: %s", path, strerror(errno));
		return -errno;
	}
	return sensors_file_read(f, fd, path);
}

/* A socket that was asked for must be there; the usual one may be another collector's. */
static int listen_control(struct collector *c, struct collector_options *o)
{
	bool asked = o->control != NULL;

	o->control = asked ? o->control : CONTROL_PATH;
	c->listener = control_listen(o->control);
	if (c->listener >= 0)
		return 0;
	o->control = NULL;
	return asked ? c->listener : 0;
}

static int collector_run(struct collector *c, struct files *output_files)
{
	int orders[2], files[2], signals;
	sigset_t set;
	pid_t child;

	privsep_block_signals(&set);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, files)) {
		log_line("cannot make socket pairs: %s", strerror(errno));
		return 1;
	}
	child = fork();
	if (child < 0) {
		log_line("cannot start a second process: %s", strerror(errno));
		return 1;
	}
	if (child == 0) {
		close(orders[0]);
		close(files[0]);
		close(signals);
		c->orders.sock = orders[1];
		c->files = files[1];
		_exit(collector_process(c));
	}
	/* Keys and network are the other process's alone. */
	sodium_memzero(&c->open.meet.own, sizeof(c->open.meet.own));
	sensors_file_free(&c->sensors_file);
	close(c->receive.sock);
	if (c->listener >= 0)
		close(c->listener);
	close(orders[1]);
	close(files[1]);
	if (sandbox_files(c->o, child)) {
		kill(child, SIGKILL); /* it has written nothing yet that would be lost */
		return 1;
	}
	return privileged_process(output_files, orders[0], files[0], signals, child);
}

int main(int argc, char **argv)
{
	struct collector_options o;
	struct collector *c;
	struct files files = { .state_fd = -1, .state_new_fd = -1 };
	int status;

	if (argc > 1 && !strcmp(argv[1], "ctl"))
		return ctl_main(argc - 1, argv + 1);
	status = options_parse(&o, argc, argv);
	if (status)
		return status < 0 ? 0 : status;
	c = calloc(1, sizeof(*c));
	if (!c || keys_init()) {
		log_line("out of memory, or libsodium does not start on this machine");
		return 1;
	}
	c->o = &o;
	status = 1;
	if (read_key(&c->open.meet.own, o.key_file) == 0 &&
	    read_sensors(&c->sensors_file, o.sensors_file) == 0 &&
	    receive_init(&c->receive, o.host, o.port) == 0 && files_init(&files, &o) == 0 &&
	    listen_control(c, &o) == 0) {
		status = collector_run(c, &files);
		if (o.control)
			unlink(o.control);
	}
	files_free(&files);
	sensors_file_free(&c->sensors_file);
	sodium_memzero(c, sizeof(*c));
	free(c);
	return status;
}
