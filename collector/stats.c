// SPDX-License-Identifier: GPL-2.0
/* Statistics: see stats.h. In: the board. Out: a file, through the privileged process. */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board/json.h"
#include "common/descriptors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "sandbox.h"

#define STATE_US 1000000 /* between two states */
#define LATE_US 5000	 /* after a state's time, it is there */
#define WAIT_LEAST_MS 50
#define END_NS 5000000000ULL

/* ---- the process ----------------------------------------------------------------------------- */

static bool was_heard(const void *arg, const struct board_sensor *s)
{
	(void)arg;
	return s->runs;
}

static int file_write(int sock, const struct board_states *s)
{
	int err;
	FILE *f = files_new(sock, FILES_STATS, &err);

	if (!f)
		return err;
	board_json(f, s, was_heard, NULL);
	return files_new_done(sock, FILES_STATS_DONE, f, ferror(f) ? -errno : 0);
}

/* Writes the newest state, unless it is that of `*done_us`. Logs a failure once. */
static void state_write_new(const struct board_view *v, int sock, uint64_t *done_us)
{
	static bool logged;
	struct board_states s;
	int err = board_copy(v, &s.now, &s.before);

	if (err == -ENODATA || err == -EAGAIN)
		return;
	if (!err && s.now.collector.time_us != *done_us) {
		*done_us = s.now.collector.time_us;
		err = file_write(sock, &s);
	}
	board_states_free(&s);
	if (err && !logged)
		log_line("--stats-file: cannot be written: %s", strerror(-err));
	logged = err != 0;
}

/* Milliseconds until the state after that of `done_us`. */
static int wait_ms(uint64_t done_us)
{
	int64_t due_us = done_us + STATE_US + LATE_US;
	int64_t ms = (due_us - (int64_t)(clock_ns(CLOCK_REALTIME) / 1000)) / 1000;

	return ms < WAIT_LEAST_MS ? WAIT_LEAST_MS : ms > 1000 ? 1000 : ms;
}

static int stats_process(const struct board_view *v, int sock, int end)
{
	struct pollfd p = { .fd = end }; /* its hang-up */
	uint64_t done_us = 0;

	do {
		if (poll(&p, 1, wait_ms(done_us)) < 0 && errno != EINTR)
			return 1;
		state_write_new(v, sock, &done_us);
	} while (!p.revents);
	return 0;
}

/* Gives up the right to write to the board. */
static int read_only(struct board *map, int fd)
{
	if (fd < 0)
		return mprotect(map, BOARD_BYTES, PROT_READ);
	return mmap(map, BOARD_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == map ? 0 : -1;
}

/* Signals are the privileged process's. */
static int child(const struct handout *out, struct board *map, const struct collector_options *o,
		 int sock, int end)
{
	struct board_view v = { .map = map };
	sigset_t set;

	for (unsigned int i = 0; i < o->key_count; i++) /* keys in a config file are in pipes */
		descriptors_close_path(o->key_files[i]);
	privsep_block_signals(&set);
	if (read_only(map, out->fds[0]) || privsep_drop(o->user) || sandbox_statistics())
		return 1;
	for (int i = 0; i < HANDOUT_FDS_MAX && out->fds[i] >= 0; i++)
		close(out->fds[i]);
	return stats_process(&v, sock, end);
}

int stats_start(struct stats *s, const struct handout *out, struct board *map,
		const struct collector_options *o)
{
	int socks[2], ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		log_line("--stats-file: cannot make socket pairs: %s", strerror(errno));
		return -errno;
	}
	s->pid = fork();
	if (s->pid < 0) {
		log_line("--stats-file: cannot start a process: %s", strerror(errno));
		return -errno;
	}
	if (s->pid == 0) {
		close(socks[0]);
		close(ends[0]);
		if (out->listener >= 0)
			close(out->listener);
		_exit(child(out, map, o, socks[1], ends[1]));
	}
	close(socks[1]);
	close(ends[1]);
	fcntl(socks[0], F_SETFL, O_NONBLOCK); /* it may not read answers */
	s->sock = socks[0];
	s->end = ends[0];
	return 0;
}

/* ---- the privileged process ------------------------------------------------------------------ */

void stats_forget(struct stats *s)
{
	if (!s->pid)
		return;
	close(s->sock);
	if (s->end >= 0)
		close(s->end);
	*s = (struct stats){ 0 };
}

int stats_polled(const struct stats *s)
{
	return s->pid ? s->sock : -1;
}

void stats_answer(struct stats *s, struct files *f)
{
	int status;

	if (files_answer(f, s->sock, true) == 0)
		return;
	kill(s->pid, SIGKILL); /* it has ended, or breaks the protocol */
	if (waitpid(s->pid, &status, 0) == s->pid && WIFSIGNALED(status))
		log_line("--stats-file: is no longer written: its process was ended by signal %d "
			 "(%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	stats_forget(s);
}

void stats_end(struct stats *s, struct files *f)
{
	uint64_t until_ns = monotonic_ns() + END_NS;
	struct pollfd p = { .fd = s->sock, .events = POLLIN };

	if (!s->pid)
		return;
	close(s->end);
	s->end = -1;
	while (s->pid) {
		if (poll(&p, 1, monotonic_timeout(until_ns, monotonic_ns())) <= 0)
			kill(s->pid, SIGKILL); /* it hangs */
		stats_answer(s, f);
	}
}
