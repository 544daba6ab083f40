// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-collector. A datagram's way, a room of collector/ a line:
 *
 *     network/   receive ═▶ session_receive ─▶ messages           session_send, handshake ─▶ sensor
 *                   ┌───────────────────────────┘
 *     combo/     intake ─▶ reassemble, gaps ═▶ split: forward, unpack, event, frame_check
 *                   ┌───────────────────────────┘
 *     output/    output ─▶ interfaces, pcapng ═▶ output_flush ─▶ output_file
 *                              beside these: output_hold, output_rotate, event_log, recover
 *     files/     ask, serve: open the output's files
 *
 * ═▶: datagrams, combos and blocks wait there, until collector.c's loop takes them on or the buffer
 * is full. For combos, turns.c has the sensors' order, and split takes a sensor's next combo from
 * gaps. With several CPUs, ahead's thread unpacks copies of the next combos before their turns.
 * messages and one_way let some combos pass early. Before split opens a combo, output_hold
 * says whether the disk has room. Before frame_check, output makes room in the buffer, and
 * output_rotate begins the next file. Without room on the disk, a combo waits in reassemble; one of
 * a sensor without ACKs is lost. Received datagrams and written combos make their sensor due in
 * model/. timers.c then lets session_send call intake, where late FLOORs of one-way sensors take
 * effect, and send an ACK, which runs fills in. A session that renews no other goes from
 * session_receive by sensor_sessions to intake, and there to runs. If complete combos of the last
 * run are unwritten, the new run waits: messages takes no pieces of it, and split begins it later.
 * With --sink, sink/ is in the place of interfaces to files/: output_sink passes whole combos to
 * saluki-kafka. With --source, source/ is in the network's place: it takes combos from
 * saluki-kafka, and calls split. Each room includes only rooms below it. Beside them, model/ has
 * the shared data about sensors. control/ sends orders to sensors, and compares frames with rules
 * (struct combos, `framed`).
 *
 * live/ shows each combo to viewers, when output has its blocks. board/ looks once a second at all
 * sensors, and shows their state; status/ prints it, as another process.
 *
 * There are two processes. The privileged one, here and in files/serve.c, opens files and handles
 * signals. The other one, collector.c, does the rest without privilege. With --stats-file a third
 * one, stats.c, writes the board's states as JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector.h"
#include "collector/files/files.h"
#include "collector/files/replaced.h"
#include "collector/source/listen.h"
#include "common/descriptors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "sandbox.h"
#include "stats.h"

/* ---- the privileged process ------------------------------------------------------------------ */

/* What others see: sockets that give away memories, the process for statistics, and the service
 * manager. */
struct shown {
	struct live_socket live;
	struct handout board;
	struct stats stats;
	struct notify notify;
};

static void forward_signals(struct files *files, int signals, int orders, struct notify *notify,
			    pid_t child)
{
	static uint64_t stop_ns;
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) == sizeof(si)) {
		uint8_t order = si.ssi_signo == SIGUSR1	 ? SIGNAL_REPORT
				: si.ssi_signo == SIGHUP ? SIGNAL_RELOAD
							 : SIGNAL_STOP;

		if (si.ssi_signo == SIGCHLD)
			continue;
		if (order == SIGNAL_RELOAD) {
			files_limit_moved(&files->limit);
			notify_reloading(notify);
		} else if (order == SIGNAL_STOP) {
			notify_stopping(notify);
		}
		privsep_send(orders, &order, sizeof(order), NULL, 0);
		if (order == SIGNAL_STOP && privsep_insists(&stop_ns))
			kill(child, SIGKILL); /* second signal: whatever it hangs on */
	}
}

/* Serves the other process until it ends. Returns its exit status. */
static int privileged_process(struct files *files, int orders, int files_sock, int signals,
			      struct terminal_line *line, struct shown *shown, pid_t child)
{
	struct pollfd p[6] = {
		{ .fd = files_sock, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
		{ .fd = shown->notify.sock < 0 ? -1 : orders, .events = POLLIN },
	};
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		int timeout = terminal_line_tick(line, monotonic_ns());

		p[2].fd = handout_polled(&shown->live.out, &timeout);
		p[3].fd = handout_polled(&shown->board, &timeout);
		p[4].fd = stats_polled(&shown->stats);
		if (poll(p, 6, timeout) < 0 && errno != EINTR)
			return 1;
		if (p[2].revents || shown->live.out.waiting)
			live_hand_out(&shown->live, monotonic_ns());
		if (p[3].revents || shown->board.waiting)
			board_hand_out(&shown->board, monotonic_ns());
		if (p[1].revents)
			forward_signals(files, signals, orders, &shown->notify, child);
		if (p[5].revents && heartbeat_take(orders, &shown->notify))
			p[5].fd = -1;
		if (p[0].revents && files_answer(files, files_sock, false))
			p[0].fd = -1;
		if (p[4].revents)
			stats_answer(&shown->stats, files);
	}
	stats_end(&shown->stats, files);
	if (WIFSIGNALED(status))
		log_line("the receiving process was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- start ----------------------------------------------------------------------------------- */

static int read_key(struct keypair *own, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	const char *why;

	if (fd < 0) {
		err = -errno;
		if (key_is_text(path))
			log_line(KEY_IS_TEXT);
		else
			log_line("--key %s: %s", path, strerror(-err));
		return err;
	}
	if (!keys_private(fd))
		log_line("warning: --key %s: others can read it; chmod 600 %s", path, path);
	err = keys_read(fd, own, NULL, &why);
	close(fd);
	descriptors_close_path(path);
	if (err)
		log_line("--key %s: %s", path, why);
	return err;
}

static int read_keys(struct handshake *m, const struct collector_options *o)
{
	int err = read_key(&m->own[0], o->key_files[0]);

	if (err || o->key_count == 1)
		return err;
	err = read_key(&m->own[1], o->key_files[1]);
	if (!err && !memcmp(m->own[0].public, m->own[1].public, KEY_LEN)) {
		log_line("--key %s: is the same key as --key %s", o->key_files[1], o->key_files[0]);
		err = -EINVAL;
	}
	m->two_keys = true;
	return err;
}

static int read_sensors(struct sensors_file *f, const struct collector_options *o)
{
	const char *path = o->sensors_file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		log_line("--sensors %s: %s", path, strerror(errno));
		return -errno;
	}
	if (o->inherited >= 0) /* others may read the file again, on SIGHUP */
		descriptors_close_path(path);
	return sensors_file_read(f, fd, path);
}

/* Opens what combos come from: the network, or --source. */
static int open_input(struct collector *c, const struct collector_options *o)
{
	int err;

	if (o->source) {
		c->source.listener = source_listen(o->source);
		return c->source.listener < 0 ? c->source.listener : 0;
	}
	err = read_keys(&c->network.handshake, o) ?: read_sensors(&c->sensors_file, o);
	if (err)
		return err;
	return o->inherited < 0 ? receive_init(&c->receive, o->host, o->port)
				: receive_inherit(&c->receive, o->inherited);
}

/* Whether a socket is wanted. Without an option, sets the standard path. */
static bool is_wanted(const char **path, const char *standard)
{
	if (*path && !strcmp(*path, "none"))
		*path = NULL;
	else
		*path = *path ?: standard;
	return *path;
}

/* A socket given by option must work. The standard one may be another collector's: then the line
 * says what does not reach this collector. Returns 0 or `err`. */
static int without(const char **path, const char *standard, int err, const char *what)
{
	bool asked = *path != standard;

	*path = NULL;
	if (!asked)
		log_line("so %s gives it a socket of its own", what);
	return asked ? err : 0;
}

static int listen_control(struct collector *c, const char **path)
{
	c->listener = -1;
	if (!is_wanted(path, CONTROL_PATH))
		return 0;
	c->listener = control_listen(*path);
	return c->listener >= 0 ? 0
				: without(path, CONTROL_PATH, c->listener,
					  "'saluki-collector ctl' does not reach this collector; "
					  "--control PATH");
}

static int listen_live(struct collector *c, struct live_socket *s, const char **path,
		       uint32_t bytes)
{
	int err = is_wanted(path, LIVE_PATH) ? live_make(s, &c->live, *path, bytes) : 0;

	return err ? without(path, LIVE_PATH, err,
			     "saluki-live does not reach this collector; --live PATH")
		   : 0;
}

/* After the control socket: a sink that does not listen cannot do its work. */
static int listen_sink(struct collector *c, const char *path)
{
	c->sink.connection.listener = path ? sink_listen(path) : -1;
	return path && c->sink.connection.listener < 0 ? c->sink.connection.listener : 0;
}

/* Makes the board, and starts the process for --stats-file, before keys are read. */
static int make_board(struct collector *c, struct shown *shown, const struct collector_options *o)
{
	bool of_none = o->board && !strcmp(o->board, "none");
	int err = of_none && !o->stats_file ? 0 : board_make(&shown->board, &c->board.map);

	if (err) {
		log_line("--board: %s", strerror(-err));
		return err;
	}
	return o->stats_file ? stats_start(&shown->stats, &shown->board, c->board.map, o) : 0;
}

static int listen_board(struct collector *c, struct handout *out, const char **path)
{
	int err = is_wanted(path, BOARD_PATH) && c->board.map ? board_listen(out, *path) : 0;

	return err ? without(path, BOARD_PATH, err,
			     "'saluki-collector status' does not reach this collector; "
			     "--board PATH")
		   : 0;
}

/* The collector of `saluki capture` is not the service. */
static bool is_service(const struct collector_options *o)
{
	return o->inherited < 0 && notify_is_wanted();
}

static int collector_run(struct collector *c, struct files *output_files, struct shown *shown)
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
		live_socket_receiving(&shown->live);
		handout_close(&shown->board);
		stats_forget(&shown->stats);
		files_replaced_free(
			output_files); /* its lock would outlive the privileged process's */
		c->orders.sock = orders[1];
		c->heartbeat.sock = is_service(c->o) ? orders[1] : -1;
		c->files = files[1];
		_exit(collector_process(c));
	}
	/* Only the other process has keys and network. */
	sodium_memzero(c->network.handshake.own, sizeof(c->network.handshake.own));
	sensors_file_free(&c->sensors_file);
	if (c->receive.sock >= 0)
		close(c->receive.sock);
	if (c->source.listener >= 0)
		close(c->source.listener);
	if (c->listener >= 0)
		close(c->listener);
	connection_close(&c->sink.connection);
	close(orders[1]);
	if (is_service(c->o))
		notify_open(&shown->notify);
	close(files[1]);
	live_socket_privileged(&shown->live, &c->live);
	board_unmap(&c->board.map);
	if (sandbox_files(c->o, child, shown->stats.pid)) {
		kill(child, SIGKILL); /* it has not written anything yet */
		return 1;
	}
	return privileged_process(output_files, orders[0], files[0], signals, &c->status.shown,
				  shown, child);
}

int main(int argc, char **argv)
{
	const struct command_def *command;
	struct collector_options o;
	struct collector *c;
	struct files files = {
		.state_fd = -1, .state_new_fd = -1, .event_log_folder = -1, .limit.last = -1
	};
	struct shown shown = { LIVE_SOCKET_NONE, HANDOUT_NONE, { 0 }, NOTIFY_NONE };
	int status;

	descriptors_open_standard();
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
	command = argc > 1 ? options_command(argv[1]) : NULL;
	if (command)
		return command->run(argc - 1, argv + 1);
	status = options_parse(&o, argc, argv);
	if (status)
		return status < 0 ? 0 : status;
	if (o.inherited < 0)
		log_start(o.log_level);
	else
		log_settings.level = o.log_level; /* `saluki capture` logs without times */
	c = calloc(1, sizeof(*c));
	if (!c || keys_init()) {
		log_line("out of memory, or libsodium does not start on this machine");
		return 1;
	}
	c->o = &o;
	c->receive.sock = c->source.listener = -1;
	/* The reader of -w - may print frames on the same terminal. */
	if (o.log_level > LOG_LEVEL_QUIET && o.inherited < 0 &&
	    (!o.write || strcmp(o.write, "-") != 0))
		terminal_line_open(&c->status.shown);
	status = 1;
	if (make_board(c, &shown, &o) == 0 && open_input(c, &o) == 0 &&
	    files_init(&files, &o) == 0 && listen_control(c, &o.control) == 0 &&
	    listen_sink(c, o.sink) == 0) {
		files_limit_sensors(&files.limit, o.source ? ROSTER_MAX : c->sensors_file.count);
		if (listen_live(c, &shown.live, &o.live, o.live_bytes) == 0 &&
		    listen_board(c, &shown.board, &o.board) == 0)
			status = collector_run(c, &files, &shown);
		if (o.live)
			unlink(o.live);
		if (o.board)
			unlink(o.board);
		if (o.control)
			unlink(o.control);
		if (o.sink)
			unlink(o.sink);
		if (o.source)
			unlink(o.source);
	}
	stats_end(&shown.stats, &files); /* if the start failed */
	live_socket_free(&shown.live);
	handout_close(&shown.board);
	notify_close(&shown.notify);
	files_free(&files);
	sensors_file_free(&c->sensors_file);
	terminal_line_close(&c->status.shown);
	sodium_memzero(c, sizeof(*c));
	free(c);
	return status;
}
