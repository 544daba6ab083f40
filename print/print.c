// SPDX-License-Identifier: GPL-2.0
/* The printing process: see print.h. */
#include "print.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/find_program.h"
#include "common/log.h"
#include "common/pcap_read.h"
#include "common/privsep.h"
#include "common/sandbox.h"
#include "dissector.h"
#include "dump.h"
#include "line.h"

struct printer {
	const struct print_options *o;
	bool have_tcpdump, have_tshark;
	struct pcap_reader reader;
	struct feed_interface *interfaces; /* of the section, as many as the reader has */
	uint32_t interface_room;
	bool several;	    /* interfaces of several names: lines have the name */
	bool several_types; /* of link types */
	struct pcap_frame frame;
	bool holds_frame; /* `frame` was read, but not printed */
	bool chosen;	  /* the dissector or the short line */
	bool ended;	  /* the input */
	int status;
	struct dissector dissector;
	struct stamp stamp;
	struct text line;
	struct screen screen;
};

int print_check(const struct print_options *o)
{
	const char *name = o->dissector == PRINT_TCPDUMP  ? "tcpdump"
			   : o->dissector == PRINT_TSHARK ? "tshark"
							  : NULL;

	if (!name || find_program(name, NULL))
		return 0;
	log_line("%s is not installed: install the package %s, or leave --dissector out", name,
		 name);
	return -ENOENT;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

/* Called by the reader. */
static int described(void *context, uint32_t number, uint16_t linktype, const char *name,
		     size_t len)
{
	struct printer *p = context;
	struct feed_interface *its;

	if (number == p->interface_room) {
		uint32_t room = number ? 2 * number : 16;
		struct feed_interface *more = realloc(p->interfaces, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->interfaces = more;
		p->interface_room = room;
	}
	its = &p->interfaces[number];
	memset(its, 0, sizeof(*its));
	its->linktype = linktype;
	if (len)
		memcpy(its->name, name, len < sizeof(its->name) ? len : sizeof(its->name) - 1);
	if (number && strcmp(its->name, p->interfaces[0].name))
		p->several = true;
	if (number && linktype != p->interfaces[0].linktype)
		p->several_types = true;
	return 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Chooses the dissector or the short line, at the first frame. */
static void choose(struct printer *p)
{
	enum print_dissector d = p->o->dissector;
	struct dissector *its = &p->dissector;

	p->chosen = true;
	/* tcpdump prints no interface names, and one link type only. */
	if (d == PRINT_AUTO && p->have_tcpdump && !p->several && !p->several_types && !p->o->names)
		d = PRINT_TCPDUMP;
	else if (d == PRINT_AUTO)
		d = p->have_tshark ? PRINT_TSHARK : PRINT_SHORT;
	if (its->state == DISSECTOR_WAITS && d == PRINT_TCPDUMP)
		dissector_start(its, LAUNCH_TCPDUMP, p->frame.linktype);
	else if (its->state == DISSECTOR_WAITS && d == PRINT_TSHARK)
		dissector_start(its,
				p->several || p->o->names ? LAUNCH_TSHARK_NAMES : LAUNCH_TSHARK, 0);
	else
		dissector_free(its);
}

static void print_short(struct printer *p)
{
	const char *name = p->interfaces[p->frame.interface].name;
	bool named = *name && (p->several || p->o->names);
	unsigned int behind = line_make(&p->line, &p->stamp, &p->frame, named ? name : NULL, p->o);

	screen_add(&p->screen, p->line.bytes, p->line.len);
	dump_frame(&p->screen, p->o, p->frame.data, p->frame.cap_len, behind);
	screen_add(&p->screen, "\n", 1);
}

/* Prints the frame, or keeps it while the dissector is busy. */
static void print_frame(struct printer *p)
{
	struct dissector *d = &p->dissector;

	if (!p->chosen)
		choose(p);
	if (d->state == DISSECTOR_NONE) {
		print_short(p);
		p->holds_frame = false;
	} else if (dissector_takes(d)) {
		if (dissector_frame(d, &p->frame, &p->interfaces[p->frame.interface])) {
			p->holds_frame = false;
			return;
		}
		log_line("tcpdump prints one link type only: from the first frame of link type %u "
			 "on, short lines go on",
			 p->frame.linktype);
		dissector_drain(d);
	}
}

/* Reads a frame, if one is there. Returns false if not. */
static bool read_frame(struct printer *p)
{
	struct pcap_reader *r = &p->reader;
	bool started = r->started;
	int got;

	if (p->ended || !pcap_ready(r, 0))
		return false;
	got = started ? pcap_next(r, &p->frame) : pcap_start(r);
	if (got == 1) {
		p->holds_frame = true;
	} else if (got == 0 ? started : got != -EAGAIN) {
		p->ended = true;
		if (got < 0 && r->offset) { /* a stream that never began is no error */
			log_line("the frames to print: the stream %s, at byte %llu", r->why,
				 (unsigned long long)r->offset);
			p->status = 1;
		}
	}
	return got != -EAGAIN && !p->ended;
}

/* Prints the frames that have arrived, as far as the dissector takes them. */
static void print_available(struct printer *p)
{
	while (!p->screen.err) {
		if (p->holds_frame)
			print_frame(p);
		if (p->holds_frame || !read_frame(p))
			break;
	}
	if (p->ended && !p->holds_frame) {
		if (!p->chosen)
			dissector_free(&p->dissector);
		dissector_drain(&p->dissector);
	}
}

/* ---- process --------------------------------------------------------------------------------- */

enum { POLL_INPUT, POLL_OUTPUT, POLL_DISSECTOR, POLLS = POLL_DISSECTOR + DISSECTOR_POLLS };

/* Waits until something can go on. Returns false if standard output was closed. */
static bool print_wait(struct printer *p)
{
	struct pollfd fds[POLLS];
	int timeout_ms = -1;

	fds[POLL_INPUT] = (struct pollfd){
		.fd = p->ended || p->holds_frame ? -1 : p->reader.fd,
		.events = POLLIN,
	};
	fds[POLL_OUTPUT] = (struct pollfd){ .fd = p->screen.fd };
	dissector_polls(&p->dissector, fds + POLL_DISSECTOR, &timeout_ms);
	if (poll(fds, POLLS, timeout_ms) < 0)
		return true;
	return !(fds[POLL_OUTPUT].revents & (POLLERR | POLLHUP));
}

static int print_loop(struct printer *p)
{
	bool open = true;

	for (;;) {
		print_available(p);
		screen_flush(&p->screen);
		dissector_move(&p->dissector, &p->screen, !p->ended || p->holds_frame);
		if (p->screen.err || !open)
			break;
		if (p->holds_frame && dissector_is_free(&p->dissector))
			continue;
		if (p->dissector.state == DISSECTOR_NONE && p->ended)
			break;
		open = print_wait(p);
	}
	dissector_free(&p->dissector);
	screen_flush(&p->screen);
	if (p->screen.err && p->screen.err != -EPIPE) {
		log_line("standard output: %s", strerror(-p->screen.err));
		return 1;
	}
	return p->screen.err || !open ? 0 : p->status;
}

/* This process ends at the end of its input, so that all frames are printed. */
static void ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static int confine(const struct printer *p)
{
	struct sandbox_policy policy = {
		.allowed = "wait4 waitid waitpid",
		.refused = SANDBOX_OPENING,
		.never = SANDBOX_REACHING,
		.signalled = { p->dissector.process.pid },
	};
	int err = privsep_drop(p->o->user ?: PRIVSEP_USER_DEFAULT);

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* even if it hangs on a reader, or was stopped */
	/* The dissector is of the same user, and must not write to the terminal through us. */
	prctl(PR_SET_DUMPABLE, 0);
	return err ? err : sandbox_calls(&policy);
}

static int printer_init(struct printer *p, int in)
{
	int err = pcap_init(&p->reader, in);

	if (err) {
		log_line("cannot print: %s", strerror(-err));
		return err;
	}
	p->reader.pipe = true;
	p->reader.interface_limit = PCAP_INTERFACES_LIVE;
	p->reader.described = described;
	p->reader.context = p;
	screen_init(&p->screen, STDOUT_FILENO, screen_locale_utf8());
	stamp_init(&p->stamp, p->o->stamp);
	p->have_tcpdump = p->o->dissector != PRINT_TSHARK && find_program("tcpdump", NULL);
	p->have_tshark = p->o->dissector != PRINT_TCPDUMP && find_program("tshark", NULL);
	if (p->o->dissector != PRINT_SHORT && (p->have_tcpdump || p->have_tshark))
		err = dissector_init(&p->dissector, p->o);
	ignore_signals();
	return err ? err : confine(p);
}

int print_process(int in, const struct print_options *o)
{
	struct printer *p = calloc(1, sizeof(*p));
	int status = 1;

	if (p) {
		p->o = o;
		if (printer_init(p, in) == 0)
			status = print_loop(p);
		dissector_free(&p->dissector);
		pcap_close(&p->reader);
		free(p->interfaces);
	}
	free(p);
	return status;
}
