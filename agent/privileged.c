// SPDX-License-Identifier: GPL-2.0
/*
 * The privileged process. It never sees a frame or reads a key. It opens the key file and the
 * source, passes the descriptors on, and then waits for signals, changes of interfaces and the
 * other process's end. Always holds: before SIGNAL_STOP all programs are detached, so the counters
 * that the other process then reads are final. Programs of `saluki attach` stay, and continue to
 * count.
 */
#include "privileged.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/model/handover.h"
#include "agent/remote/privileged_requests.h"
#include "agent/process/sandbox.h"
#include "agent/radio/monitor.h"
#include "agent/radio/radio.h"
#include "agent/tap/tap.h"
#include "common/changes.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/notify.h"
#include "common/privsep.h"
#include "wire/keys.h"
#include "wire/order.h"

#define REATTACH_MS 1000 /* between tries while an existing interface refuses */

struct privileged {
	const struct run_options *o;
	int sock, signals, links;
	const sigset_t *set; /* the signals read from a descriptor */
	pid_t child;
	struct capture_options capture; /* as requested, with the captured interfaces' names */
	struct monitors *monitors;	/* NULL: none */
	struct tap *tap;		/* NULL with a file */
	struct status_socket ctl;
	struct terminal_line *line;
	struct notify notify;
	const struct shared_statistics *board;
	uint64_t counted_ns; /* the other process's last count, and when to look for the next one */
	uint64_t look_ns;
	bool stopping;
	bool lost;	  /* an interface that cannot be followed disappeared */
	uint64_t stop_ns; /* time of the first stop signal; privsep_insists */
};

/* ---- handover -------------------------------------------------------------------------------- */

static int open_key(const struct run_options *o)
{
	int fd = open(o->key_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && key_is_text(o->key_file))
		log_line(KEY_IS_TEXT);
	else if (fd < 0)
		log_line("--key %s: %s", o->key_file, strerror(errno));
	else if (!keys_private(fd))
		log_line("warning: --key %s: others can read it; chmod 600 %s", o->key_file,
			 o->key_file);
	return fd < 0 ? -errno : fd;
}

/* The sources are attached or opened: begins, and passes all on. */
static int hand_over_all(struct privileged *p, const struct handover *h, int *fds, int count)
{
	if (p->o->begin)
		fds[HANDOVER_FD_KEY] = p->o->begin(p->o->begin_arg);
	if (fds[HANDOVER_FD_KEY] < 0)
		return fds[HANDOVER_FD_KEY];
	return privsep_send(p->sock, h, sizeof(*h), fds, count);
}

static int hand_over_file(struct privileged *p, int *fds)
{
	const struct run_options *o = p->o;
	struct handover h = {
		.kind = HANDOVER_FILE,
		.pace = o->pace,
		.keep_was_asked_for = o->capture.keep == KEEP_HEADERS,
		.drop_bad_fcs = o->capture.bad_fcs == BAD_FCS_DROP,
		.snaplen = o->capture.snaplen,
		.limit = o->count,
		.count = 1,
		.interfaces[0] = { .source = "file", .keep_headers = o->capture.keep != KEEP_ALL },
	};
	char name[256];
	int err;

	/* Opening a FIFO waits for its writer. Meanwhile signals have their default action. */
	sigprocmask(SIG_UNBLOCK, p->set, NULL);
	fds[HANDOVER_FD_FILE] = strcmp(o->file, "-") ? open(o->file, O_RDONLY | O_CLOEXEC) : dup(0);
	sigprocmask(SIG_BLOCK, p->set, NULL);
	if (fds[HANDOVER_FD_FILE] < 0) {
		log_line("-r %s: %s", o->file, strerror(errno));
		return -errno;
	}
	snprintf(name, sizeof(name), "%s", o->file);
	snprintf(h.interfaces[0].name, sizeof(h.interfaces[0].name), "%.63s", basename(name));
	err = hand_over_all(p, &h, fds, 2);
	close(fds[HANDOVER_FD_FILE]);
	return err;
}

static int hand_over_interfaces(struct privileged *p, int *fds)
{
	struct handover h = { .snaplen = p->o->capture.snaplen, .limit = p->o->count };
	int count, err;

	/* If a collector may order channels, the radios must be tunable. */
	err = monitors_start(&p->monitors, &p->capture, p->o->allowed & 1u << WIRE_ORDER_CHANNELS);
	if (err)
		return err;
	p->tap = tap_open(&p->capture);
	if (!p->tap)
		return -EINVAL;
	h.count = p->tap->count;
	for (unsigned int i = 0; i < h.count; i++)
		tap_describe(&p->tap->interfaces[i], &h.interfaces[i]);
	count = p->tap->ops->hand_over(p->tap, &h, fds);
	p->tap->snaplen_max = h.snaplen > h.snaplen_max ? h.snaplen : h.snaplen_max;
	err = hand_over_all(p, &h, fds, count);
	/* Logged now: from here on no frame is lost, even if this process is killed. */
	for (unsigned int i = 0; !err && i < h.count; i++)
		tap_say(p->tap, i, "capturing");
	return err;
}

static int hand_over(struct privileged *p)
{
	int fds[PRIVSEP_FDS_MAX] = { p->o->begin ? -1 : open_key(p->o) }, err;

	if (!p->o->begin && fds[HANDOVER_FD_KEY] < 0)
		return fds[HANDOVER_FD_KEY];
	err = p->o->file ? hand_over_file(p, fds) : hand_over_interfaces(p, fds);
	if (fds[HANDOVER_FD_KEY] >= 0)
		close(fds[HANDOVER_FD_KEY]);
	return err;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void order(struct privileged *p, uint8_t what)
{
	struct order o = { .what = what };

	privsep_send(p->sock, &o, sizeof(o), NULL, 0);
}

/* The collector must know how each frame was captured. */
static void order_interface(struct privileged *p, unsigned int i)
{
	struct order o = { .what = COMMAND_INTERFACE, .number = i };

	tap_describe(&p->tap->interfaces[i], &o.interface);
	privsep_send(p->sock, &o, sizeof(o), NULL, 0);
}

/* Its radio's channel is no longer known. */
static void order_lost(struct privileged *p, unsigned int i)
{
	struct order o = { .what = COMMAND_LOST, .number = i };

	privsep_send(p->sock, &o, sizeof(o), NULL, 0);
}

static void stop(struct privileged *p)
{
	p->stopping = true;
	notify_stopping(&p->notify);
	for (unsigned int i = 0; p->tap && !p->tap->o->persistent && i < p->tap->count; i++)
		p->tap->ops->detach(p->tap, i);
	order(p, SIGNAL_STOP);
}

/* Executes a collector's order or a plan's request. Returns whether more may follow. */
static bool take_ordered(struct privileged *p)
{
	struct order answer;
	bool changed;

	if (privileged_requests_take(p->tap, p->stopping ? 0 : p->o->allowed, p->sock, &answer,
				     &changed))
		return false;
	if (answer.what == SIGNAL_STOP) {
		if (!p->stopping)
			stop(p);
		return true;
	}
	if (changed)
		order_interface(p, answer.number);
	privsep_send(p->sock, &answer, sizeof(answer), NULL, 0);
	return true;
}

static void take_signal(struct privileged *p)
{
	struct signalfd_siginfo si;

	while (read(p->signals, &si, sizeof(si)) == sizeof(si)) {
		bool again;

		if (si.ssi_signo == SIGCHLD)
			continue;
		if (si.ssi_signo == SIGUSR1) {
			order(p, SIGNAL_REPORT);
			continue;
		}
		again = privsep_insists(&p->stop_ns);
		if (!p->stopping)
			stop(p);
		else if (again)
			kill(p->child, SIGKILL); /* whatever it hangs on */
	}
}

/* A radio that was absent or down may be on any channel, so it is tuned again. A failure is logged;
 * the frames have their channel in radiotap. */
static void tune_again(struct privileged *p, unsigned int i, const struct interface_state *now)
{
	struct tap_interface *f = &p->tap->interfaces[i];

	if (now->up)
		tap_tune(p->tap, i, now);
	else
		f->tuned = false;
}

/* Follows an interface: it may go down and up, disappear, and return as another one. */
static void follow_link(struct privileged *p, unsigned int i)
{
	struct tap_interface *f = &p->tap->interfaces[i];
	struct interface_state now;

	if (interface_state_query(f->name, &now))
		return;
	/* Before attaching: the returned interface may be a station. */
	if (now.ifindex != f->ifindex && monitors_again(p->monitors, f->name) &&
	    interface_state_query(f->name, &now))
		return;
	if (f->source && (now.ifindex != f->ifindex || now.arphrd != f->link.arphrd)) {
		/* The link type is a constant of the program, for trimming. */
		p->tap->ops->detach(p->tap, i);
		f->was_up = false;
		if (p->tap->bound) {
			log_line("%s: %s, which its sockets cannot follow; start again when it is "
				 "there",
				 f->name, now.ifindex ? "is another one now" : "disappeared");
			p->lost = true;
			stop(p);
			return;
		}
		if (now.ifindex == 0)
			log_line("%s: disappeared; waiting for it", f->name);
		f->tuned = false;
		radio_forget(p->tap->radios[i]); /* the number may have another name now */
		order_lost(p, i);
		order_interface(p, i);
	}
	if (!f->source && now.ifindex) {
		tune_again(p, i, &now);
		if (p->tap->ops->attach(p->tap, i, true))
			return;
		tap_promiscuous(p->tap, i);
		f->was_up = now.up; /* at the time of tuning */
		f->had_carrier = now.carrier;
		log_line("%s: is %s", f->name,
			 now.ifindex == f->ifindex ? "of another type now" : "back");
		f->ifindex = f->link.ifindex;
		tap_say(p->tap, i, "capturing");
		order_interface(p, i);
	} else if (f->source && now.up != f->was_up) {
		f->was_up = now.up;
		f->had_carrier = now.carrier;
		tune_again(p, i, &now);
		log_line("%s: %s", f->name,
			 now.carrier ? "is up again; capturing"
			 : now.up    ? "is up again, without a carrier"
				     : "went down; waiting for it");
		order_interface(p, i);
	} else if (f->source && now.carrier != f->had_carrier) {
		f->had_carrier = now.carrier;
		log_line("%s: %s", f->name,
			 now.carrier ? "the carrier is back; capturing"
				     : "lost its carrier; is the cable in, and its other end up?");
		order_interface(p, i);
	}
}

static bool all_attached(const struct privileged *p)
{
	for (unsigned int i = 0; p->tap && i < p->tap->count; i++)
		if (!p->tap->interfaces[i].source)
			return false;
	return true;
}

/* Returns the other process's exit status, or -1 while it runs. */
static int child_ended(struct privileged *p)
{
	int status;

	if (waitpid(p->child, &status, WNOHANG) != p->child)
		return -1;
	/* If the other process was killed, its ring keeps the frames for the next agent. After a
	 * normal end the ring is empty. */
	if (p->tap)
		p->tap->stays = p->tap->o->persistent || !WIFEXITED(status) ||
				(p->tap->stays && !p->stopping);
	if (WIFSIGNALED(status))
		log_line("the capture process was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Tells the service manager that the other process counts. Returns milliseconds until the next
 * look; -1: nobody wants to know. */
static int tell_manager(struct privileged *p, uint64_t now_ns)
{
	struct statistics s;

	if (p->notify.sock < 0)
		return -1;
	if (now_ns >= p->look_ns) {
		p->look_ns = now_ns + NOTIFY_INTERVAL_NS;
		changes_read(&p->board->changes, &s, &p->board->news, sizeof(s));
		if (s.at_ns != p->counted_ns)
			notify_alive(&p->notify, s.session_up ? "capturing, with a collector"
							      : "capturing, without a collector");
		p->counted_ns = s.at_ns;
	}
	return monotonic_timeout(p->look_ns, now_ns);
}

static int watch(struct privileged *p)
{
	struct pollfd fds[3 + INTERFACES_MAX] = {
		{ .fd = p->signals, .events = POLLIN },
		{ .fd = p->links, .events = POLLIN },
		/* Without --allow-control, plans and -c, messages of the other process are never
		 * read. */
		{ .fd = p->o->allowed || p->o->local || p->o->count || tap_is_sampled(p->tap)
				? p->sock
				: -1,
		  .events = POLLIN },
	};
	unsigned int count = p->tap ? p->tap->count : 0;
	int status;

	for (unsigned int i = 0; i < count; i++)
		fds[3 + i] = (struct pollfd){ .fd = p->ctl.listeners[i], .events = POLLIN };
	while ((status = child_ended(p)) < 0) {
		bool waiting = !p->stopping && !all_attached(p);
		uint64_t now = monotonic_ns();
		int timeout =
			monotonic_sooner(terminal_line_tick(p->line, now), tell_manager(p, now));

		timeout = monotonic_sooner(timeout, waiting ? REATTACH_MS : -1);
		if (poll(fds, 3 + count, timeout) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents)
			take_signal(p);
		if (fds[1].revents)
			interface_state_watch_drain(p->links);
		if (fds[2].revents && !take_ordered(p))
			fds[2].fd = -1;
		for (unsigned int i = 0; i < count; i++) {
			if (!p->stopping && (fds[1].revents || waiting))
				follow_link(p, i);
			if (fds[3 + i].revents && status_socket_serve(&p->ctl, i))
				order_interface(p, i);
		}
	}
	return p->lost ? 1 : status;
}

int privileged_process(const struct run_options *o, int sock, const sigset_t *signals, pid_t child,
		       const struct shared_statistics *board, struct terminal_line *line)
{
	struct privileged p = { .o = o,
				.capture = o->capture,
				.sock = sock,
				.child = child,
				.line = line,
				.board = board,
				.notify = NOTIFY_NONE,
				.links = -1 };
	int status = 1;

	p.set = signals;
	if (!o->local)
		notify_open(&p.notify);
	p.signals = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (o->capture.count)
		p.links = interface_state_watch_open();
	if (p.signals < 0 || (o->capture.count && p.links < 0))
		log_line("cannot watch signals and interfaces: %s", strerror(errno));
	else if (hand_over(&p) == 0) {
		/* Signals work even if the other process does not read messages. */
		fcntl(sock, F_SETFL, O_NONBLOCK);
		if (p.tap)
			status_socket_open(&p.ctl, p.tap, board);
		if (sandbox_privileged(p.tap, child, o->helper) == 0)
			status = watch(&p);
	}
	close(sock); /* without a handover, this ends the other process */
	notify_close(&p.notify);
	status_socket_close(&p.ctl);
	tap_close(p.tap);
	monitors_end(p.monitors);
	if (p.signals >= 0)
		close(p.signals);
	if (p.links >= 0)
		close(p.links);
	return status;
}
