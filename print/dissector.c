// SPDX-License-Identifier: GPL-2.0
/* Runs the dissector: see dissector.h. */
#include "dissector.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"

#define PATIENCE_S 30
#define READ_LEN 16384
#define COMPLAINTS_MAX 5
#define NS_PER_S 1000000000ULL

int dissector_init(struct dissector *d, const struct print_options *o)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->patience_ns = (o->patience_s ?: PATIENCE_S) * NS_PER_S;
	screen_init(&d->complaints, STDERR_FILENO, screen_locale_utf8());
	err = feed_init(&d->feed) ?: launch(&d->process, o);
	if (!err)
		d->state = DISSECTOR_WAITS;
	return err;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Kills the process if it still runs. Returns the status of waitpid(). */
static int reap(struct dissector *d)
{
	int status = 0;

	close_fd(&d->process.in);
	close_fd(&d->process.out);
	close_fd(&d->process.err);
	kill(d->process.pid, SIGKILL);
	while (waitpid(d->process.pid, &status, 0) < 0 && errno == EINTR)
		;
	d->state = DISSECTOR_NONE;
	feed_free(&d->feed);
	return status;
}

void dissector_free(struct dissector *d)
{
	if (d->state != DISSECTOR_NONE)
		reap(d);
}

void dissector_start(struct dissector *d, enum launch_order order, uint16_t linktype)
{
	char byte = order;

	d->name = order == LAUNCH_TCPDUMP ? "tcpdump" : "tshark";
	d->linktype = linktype;
	d->moved_ns = monotonic_ns();
	d->state = DISSECTOR_RUNS;
	feed_begin(&d->feed, order != LAUNCH_TCPDUMP, linktype);
	/* The pipe is empty, so this does not wait. If the process is gone, its output has ended
	 * too, and dissector_move logs it. */
	if (write(d->process.in, &byte, 1) != 1)
		close_fd(&d->process.in);
}

bool dissector_takes(const struct dissector *d)
{
	return d->state == DISSECTOR_RUNS && feed_has_room(&d->feed);
}

static bool is_pending(const struct dissector *d)
{
	return d->process.in >= 0 && d->feed.at < d->feed.len;
}

/* Whether the dissector must still read or print something. */
static bool is_owed(const struct dissector *d)
{
	return d->owes || is_pending(d) || d->state == DISSECTOR_DRAINS;
}

bool dissector_is_free(const struct dissector *d)
{
	return d->state == DISSECTOR_NONE || dissector_takes(d);
}

bool dissector_frame(struct dissector *d, const struct pcap_frame *frame,
		     struct feed_interface *its)
{
	if (!d->feed.pcapng && frame->linktype != d->linktype)
		return false;
	if (!is_owed(d))
		d->moved_ns = monotonic_ns();
	feed_frame(&d->feed, frame, its);
	d->owes = true;
	d->fed++;
	return true;
}

void dissector_drain(struct dissector *d)
{
	if (d->state == DISSECTOR_RUNS)
		d->state = DISSECTOR_DRAINS;
}

void dissector_polls(const struct dissector *d, struct pollfd fds[DISSECTOR_POLLS], int *timeout_ms)
{
	uint64_t until = d->moved_ns + d->patience_ns, now = monotonic_ns();
	bool runs = d->state >= DISSECTOR_RUNS;
	int left = until > now ? (until - now) / 1000000 + 1 : 0;

	fds[0] = (struct pollfd){ .fd = is_pending(d) ? d->process.in : -1, .events = POLLOUT };
	fds[1] = (struct pollfd){ .fd = runs ? d->process.out : -1, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = runs ? d->process.err : -1, .events = POLLIN };
	if (runs && is_owed(d) && (*timeout_ms < 0 || left < *timeout_ms))
		*timeout_ms = left;
}

static void move_input(struct dissector *d)
{
	struct feed *f = &d->feed;

	while (is_pending(d)) {
		ssize_t n = write(d->process.in, f->bytes + f->at, f->len - f->at);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) { /* the dissector ends, or reads no more */
			close_fd(&d->process.in);
			return;
		}
		f->at += n;
		d->moved_ns = monotonic_ns();
	}
	f->at = f->len = 0;
	if (d->state == DISSECTOR_DRAINS)
		close_fd(&d->process.in);
}

/* Lines that begin with a blank belong to the frame above, unless they are times. */
static void count_lines(struct dissector *d, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!d->inside_line && text[i] != '\t' && text[i] != '\n' &&
		    (text[i] != ' ' || d->printed == 0))
			d->printed++;
		d->inside_line = text[i] != '\n';
	}
}

static void move_output(struct dissector *d, struct screen *s)
{
	char text[READ_LEN];
	bool moved = false;
	ssize_t n;

	while ((n = read(d->process.out, text, sizeof(text))) > 0 && !s->err) {
		count_lines(d, text, n);
		screen_add(s, text, n);
		moved = true;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(&d->process.out);
	if (moved) {
		screen_flush(s); /* may block for long, as in a pager */
		d->owes = false;
		d->moved_ns = monotonic_ns();
	}
}

/* Messages that both programs always print. */
static bool is_noise(const char *line)
{
	return !*line || !strncmp(line, "reading from file -", 19) ||
	       !strncmp(line, "Running as user", 15);
}

static void complain(struct dissector *d)
{
	const char *line = d->complaint;
	size_t name = strlen(d->name);

	d->complaint[d->complaint_len] = '\0';
	d->complaint_len = 0;
	if (is_noise(line) || d->complained++ >= COMPLAINTS_MAX)
		return;
	screen_add(&d->complaints, d->name, name);
	if (!strncmp(line, d->name, name) && line[name] == ':')
		line += name;
	else
		screen_add(&d->complaints, ": ", 2);
	screen_add(&d->complaints, line, strlen(line));
	screen_add(&d->complaints, "\n", 1);
	screen_flush(&d->complaints);
}

static void move_complaints(struct dissector *d)
{
	char text[1024];
	ssize_t n;

	while ((n = read(d->process.err, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] == '\n')
				complain(d);
			else if (d->complaint_len < sizeof(d->complaint) - 1)
				d->complaint[d->complaint_len++] = text[i];
		}
	if (n == 0 || errno != EAGAIN)
		close_fd(&d->process.err);
}

/* Logs an unexpected end. */
static void mourn(struct dissector *d, int status, bool stuck, bool more)
{
	unsigned long long lost = d->fed > d->printed ? d->fed - d->printed : 0;
	const char *then = more ? "; short lines go on" : "";
	char how[128];

	if (stuck)
		snprintf(how, sizeof(how), "stood still for %llu s and was ended",
			 (unsigned long long)(d->patience_ns / NS_PER_S));
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(how, sizeof(how), "ended with exit status %d", WEXITSTATUS(status));
	log_line("%s %s; up to %llu frame%s %s not printed%s", d->name, how, lost, PLURAL(lost),
		 lost == 1 ? "was" : "were", then);
}

void dissector_move(struct dissector *d, struct screen *s, bool more)
{
	bool ended, stuck, asked;
	int status;

	if (d->state < DISSECTOR_RUNS)
		return;
	move_input(d);
	if (d->process.out >= 0)
		move_output(d, s);
	if (d->process.err >= 0)
		move_complaints(d);
	/* The process's end closes both. Its output alone may be closed earlier. */
	ended = d->process.out < 0 && d->process.err < 0;
	stuck = is_owed(d) && monotonic_ns() - d->moved_ns >= d->patience_ns;
	if (!ended && !stuck)
		return;
	asked = d->state == DISSECTOR_DRAINS && d->feed.at == d->feed.len && !stuck;
	if (d->inside_line)
		screen_add(s, "\n", 1);
	status = reap(d);
	if (!asked || status)
		mourn(d, status, stuck, more);
}
