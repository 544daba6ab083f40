// SPDX-License-Identifier: GPL-2.0
/*
 * The privileged process. It never sees a frame or reads a key: it opens the key file and the
 * source, hands the descriptors over, and then waits for signals, for the interface to change
 * and for the other process to end. Always holds: before ORDER_STOP no program is attached any
 * more, so the counters the other process then reads are final.
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

#include <saluki/linktype.h>
#include <saluki/log.h>
#include <saluki/privsep.h>

#include "attach.h"
#include "handover.h"

#define REATTACH_MS 1000 /* between tries while an interface that is there refuses us */

struct privileged {
	const struct run_options *o;
	int sock, signals, links;
	const sigset_t *set; /* the signals we take from a descriptor */
	pid_t child;
	struct attach attach;
	bool stopping;
	uint64_t stop_ns; /* when we were first told to; privsep_insists */
	bool was_up;
	int ifindex; /* attached to */
};

/* ---- handover -------------------------------------------------------------------------------- */

static int open_key(const struct run_options *o)
{
	int fd = open(o->key_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		log_line("--key %s: %s", o->key_file, strerror(errno));
	return fd < 0 ? -errno : fd;
}

static int hand_over_file(struct privileged *p, int key_fd)
{
	const struct run_options *o = p->o;
	struct handover h = {
		.is_file = true,
		.pace = o->pace,
		.keep_headers = o->keep != KEEP_ALL,
		.keep_was_asked_for = o->keep == KEEP_HEADERS,
		.snaplen = o->snaplen,
		.source = "file",
	};
	int fds[2] = { key_fd, -1 }, err;
	char name[256];

	/* Opening a FIFO waits for its writer: here signals may end us as they end anybody. */
	sigprocmask(SIG_UNBLOCK, p->set, NULL);
	fds[HANDOVER_FD_FILE] = strcmp(o->file, "-") ? open(o->file, O_RDONLY | O_CLOEXEC) : dup(0);
	sigprocmask(SIG_BLOCK, p->set, NULL);
	if (fds[HANDOVER_FD_FILE] < 0) {
		log_line("-r %s: %s", o->file, strerror(errno));
		return -errno;
	}
	snprintf(name, sizeof(name), "%s", o->file);
	snprintf(h.name, sizeof(h.name), "%.63s", basename(name));
	err = privsep_send(p->sock, &h, sizeof(h), fds, 2);
	close(fds[HANDOVER_FD_FILE]);
	return err;
}

static const char *linktype_name(int linktype)
{
	switch (linktype) {
	case LINKTYPE_ETHERNET:
		return "EN10MB (Ethernet)";
	case LINKTYPE_IEEE802_11:
		return "IEEE802_11 (802.11)";
	case LINKTYPE_PRISM:
		return "PRISM_HEADER (802.11 plus Prism header)";
	default:
		return "IEEE802_11_RADIO (802.11 plus radiotap header)";
	}
}

static void say_attached(const struct privileged *p)
{
	const struct attach *a = &p->attach;

	log_line("%s: capturing by %s, link type %s, snaplen %u, keep %s, ring %s %u KiB%s",
		 a->interface, a->source, linktype_name(a->link.linktype), p->o->snaplen,
		 a->keep_headers ? "headers" : "all", a->mapped ? "mapped" : "bpf",
		 p->o->ring_size / 1024, a->mapped ? " for each CPU" : "");
	if (!a->link.up)
		log_line("%s: is down; waiting for it", a->interface);
}

static int hand_over_interface(struct privileged *p, int key_fd)
{
	struct attach *a = &p->attach;
	struct handover h = {
		.snaplen = p->o->snaplen,
		.ring_size = p->o->ring_size,
	};
	int fds[PRIVSEP_FDS_MAX] = { key_fd };
	struct link_state link;
	int err = link_query(p->o->interface, &link);

	/* Asked first: it is the likeliest mistake, and must not look like a missing right. */
	if (!err && link.ifindex == 0) {
		log_line("%s: no such interface; 'ip link' lists them", p->o->interface);
		return -ENODEV;
	}
	err = err ?: attach_init(a, p->o, p->o->interface);
	err = err ?: attach_pin(a);
	err = err ?: attach_attach(a, false);
	if (err)
		return err;
	p->ifindex = a->link.ifindex;
	p->was_up = a->link.up;
	h.cpus = a->cpus;
	h.mapped = a->mapped;
	h.keep_headers = a->keep_headers;
	snprintf(h.name, sizeof(h.name), "%.63s", a->interface);
	snprintf(h.source, sizeof(h.source), "%s", a->source);
	fds[HANDOVER_FD_RING] = a->ring_fd;
	fds[HANDOVER_FD_COUNTERS] = a->counters_fd;
	fds[HANDOVER_FD_WAKEUP] = a->wakeup_fd;
	fds[HANDOVER_FD_MAPPED] = a->mapped_fd;
	err = privsep_send(p->sock, &h, sizeof(h), fds, PRIVSEP_FDS_MAX);
	/* Not before: from here on a capture ends in order even if this process is killed. */
	if (!err)
		say_attached(p);
	return err;
}

static int hand_over(struct privileged *p)
{
	int key_fd = open_key(p->o), err;

	if (key_fd < 0)
		return key_fd;
	err = p->o->file ? hand_over_file(p, key_fd) : hand_over_interface(p, key_fd);
	close(key_fd);
	return err;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void order(struct privileged *p, uint8_t what)
{
	privsep_send(p->sock, &what, sizeof(what), NULL, 0);
}

static void stop(struct privileged *p)
{
	p->stopping = true;
	if (p->o->interface)
		attach_detach(&p->attach);
	order(p, ORDER_STOP);
}

static void take_signal(struct privileged *p)
{
	struct signalfd_siginfo si;

	while (read(p->signals, &si, sizeof(si)) == sizeof(si)) {
		bool again;

		if (si.ssi_signo == SIGCHLD)
			continue;
		if (si.ssi_signo == SIGUSR1) {
			order(p, ORDER_REPORT);
			continue;
		}
		again = privsep_insists(&p->stop_ns);
		if (!p->stopping)
			stop(p);
		else if (again)
			kill(p->child, SIGKILL); /* whatever it hangs on */
	}
}

/* Follows the interface: it may go down and up, vanish, and come back as another. */
static void follow_link(struct privileged *p)
{
	struct attach *a = &p->attach;
	struct link_state now;

	if (link_query(p->o->interface, &now))
		return;
	if (a->source && (now.ifindex != p->ifindex || now.arphrd != a->link.arphrd)) {
		/* The link type is part of the program: what it keeps of a frame depends on it. */
		attach_detach(a);
		p->was_up = false;
		if (now.ifindex == 0)
			log_line("%s: disappeared; waiting for it", p->o->interface);
	}
	if (!a->source && now.ifindex && attach_attach(a, true) == 0) {
		log_line("%s: is %s", p->o->interface,
			 now.ifindex == p->ifindex ? "of another type now" : "back");
		p->ifindex = a->link.ifindex;
		p->was_up = a->link.up;
		say_attached(p);
	} else if (a->source && now.up != p->was_up) {
		log_line("%s: %s", p->o->interface,
			 now.up ? "is up again; capturing" : "went down; waiting for it");
		p->was_up = now.up;
	}
}

/* Returns the other process's exit status, or -1 while it runs. */
static int child_ended(struct privileged *p)
{
	int status;

	if (waitpid(p->child, &status, WNOHANG) != p->child)
		return -1;
	if (WIFSIGNALED(status))
		log_line("the capture process was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int watch(struct privileged *p)
{
	struct pollfd fds[2] = {
		{ .fd = p->signals, .events = POLLIN },
		{ .fd = p->links, .events = POLLIN },
	};
	int status;

	while ((status = child_ended(p)) < 0) {
		bool waiting = p->o->interface && !p->stopping && !p->attach.source;

		if (poll(fds, 2, waiting ? REATTACH_MS : -1) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents)
			take_signal(p);
		if (fds[1].revents)
			link_watch_drain(p->links);
		if (p->o->interface && !p->stopping && (fds[1].revents || waiting))
			follow_link(p);
	}
	return status;
}

int privileged_process(const struct run_options *o, int sock, const sigset_t *signals, pid_t child)
{
	struct privileged p = { .o = o, .sock = sock, .child = child, .links = -1 };
	int status = 1;

	attach_zero(&p.attach);
	p.set = signals;
	p.signals = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (o->interface)
		p.links = link_watch_open();
	if (p.signals < 0 || (o->interface && p.links < 0))
		log_line("cannot watch signals and interfaces: %s", strerror(errno));
	else if (hand_over(&p) == 0)
		status = watch(&p);
	close(sock); /* without a handover, this ends the other process */
	attach_free(&p.attach);
	if (p.signals >= 0)
		close(p.signals);
	if (p.links >= 0)
		close(p.links);
	return status;
}
