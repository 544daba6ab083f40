// SPDX-License-Identifier: GPL-2.0
/*
 * Source: a capture file (`-r`). In: pcap or pcapng. Out: frames trimmed as in the kernel
 * (bpf/trim.h), at full speed or, with --pace, at the trace's speed.
 */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <saluki/linktype.h>

#include "agent/filter/filter.h"
#include "clock.h"
#include "common/log.h"
#include "common/pcap_read.h"

#define REFUSED_MAX 1000 /* refused in a row, before the capture thread can stop */

#define TOLD_MAX 16 /* the most link types in a line of the sensors file */

struct source_file {
	struct source base;
	struct handover h;
	uint32_t snaplen; /* as last ordered */
	struct pcap_reader reader;
	struct pcap_frame ahead; /* read, but with --pace not due yet */
	bool have_ahead;
	const struct filter_given *given; /* compiled for the current frame's link type */
	struct filter filter;
	int filter_linktype;	 /* -1: none yet */
	unsigned int told_count; /* logged link types */
	uint16_t told[TOLD_MAX];
	uint64_t trace_start_ns, start_ns; /* --pace: both clocks at the first frame */
	struct source_counts counts;
};

static int file_start(struct source_file *s)
{
	int err = pcap_start(&s->reader);

	if (err)
		log_line("%s: %s; give a capture file as tcpdump -w or dumpcap write it",
			 s->h.interfaces[0].name, s->reader.why);
	return err ? -EBADMSG : 0;
}

/* A collector refuses link types that no interface has, unless the sensors file lists them. Logs
 * the needed entry for each such type. */
static void file_tell_linktype(struct source_file *s, uint16_t linktype)
{
	char list[TOLD_MAX * 6 + 1];
	size_t len = 0;

	if (linktype_is_default(linktype) || s->told_count == TOLD_MAX)
		return;
	for (unsigned int i = 0; i < s->told_count; i++)
		if (s->told[i] == linktype)
			return;
	s->told[s->told_count++] = linktype;
	for (unsigned int i = 0; i < s->told_count; i++)
		len += snprintf(list + len, sizeof(list) - len, ",%u", s->told[i]);
	log_line("%s: link type %u: a collector refuses its frames unless this sensor's line in "
		 "its sensors file has 'linktypes=default%s'",
		 s->h.interfaces[0].name, linktype, list);
}

static int file_read(struct source_file *s)
{
	int got;

	if (s->reader.pipe && !pcap_ready(&s->reader, 0))
		return 0;
	if (!s->reader.started)
		return file_start(s);
	got = pcap_next(&s->reader, &s->ahead);
	if (got == -EAGAIN)
		return 0;
	if (got < 0)
		log_line("%s: %s, at byte %llu; the frames in front of it are kept",
			 s->h.interfaces[0].name, s->reader.why,
			 (unsigned long long)s->reader.offset);
	if (got == 1 && s->h.interfaces[0].keep_headers && s->h.keep_was_asked_for &&
	    !linktype_has_trim(s->ahead.linktype)) {
		log_line("%s: link type %u: its headers are not known; use --keep all",
			 s->h.interfaces[0].name, s->ahead.linktype);
		return -EBADMSG;
	}
	s->have_ahead = got == 1;
	if (got == 1)
		file_tell_linktype(s, s->ahead.linktype);
	return got == 1 ? 1 : got == 0 ? -ENODATA : -EBADMSG;
}

/* Compiles the filter if the link type changed, and runs it. Returns 1 if it refuses the frame, 0
 * if not, or -EBADMSG after a line. */
static int file_filter(struct source_file *s)
{
	const struct pcap_frame *p = &s->ahead;
	char why[FILTER_WHY_LEN];

	if (s->filter_linktype != p->linktype) {
		if (filter_make(&s->filter, s->given, p->linktype, why, sizeof(why))) {
			log_line("%s: link type %u: %s", s->h.interfaces[0].name, p->linktype, why);
			return -EBADMSG;
		}
		s->filter_linktype = p->linktype;
	}
	return !filter_match(&s->filter, p->data, p->cap_len, p->orig_len);
}

static uint64_t file_due_ns(struct source_file *s)
{
	if (!s->start_ns) {
		s->start_ns = monotonic_ns();
		s->trace_start_ns = s->ahead.time_ns;
	}
	if (s->ahead.time_ns < s->trace_start_ns)
		return s->start_ns; /* a trace's time may go back */
	return s->start_ns + (s->ahead.time_ns - s->trace_start_ns);
}

/* Trims the current frame. Returns 1, or -EAGAIN if it is refused. */
static int file_give(struct source_file *s, struct source_frame *out)
{
	const struct pcap_frame *p = &s->ahead;
	struct source_keep keep = {
		.snaplen = __atomic_load_n(&s->snaplen, __ATOMIC_RELAXED),
		.headers = s->h.interfaces[0].keep_headers &&
			   (s->h.keep_was_asked_for || linktype_is_80211(p->linktype)),
		.drop_bad_fcs = s->h.drop_bad_fcs,
	};

	out->frame.time_ns = p->time_ns;
	out->frame.orig_len = p->orig_len;
	out->frame.linktype = p->linktype;
	out->frame.interface = 0;
	out->frame.direction = SALUKI_DIRECTION_UNKNOWN;
	out->frame.data = p->data;
	out->heard_ns = monotonic_ns();
	out->taken = 0;
	return source_cut(out, p->cap_len, &keep, &s->counts) ? 1 : -EAGAIN;
}

/* Takes a due frame that the filter accepts. Returns as file_next; -EAGAIN: the frame was refused
 * and counted. */
static int file_take(struct source_file *s, struct source_frame *out)
{
	int got = s->have_ahead ? 1 : file_read(s), refused;

	if (got != 1)
		return got;
	if (s->h.pace && file_due_ns(s) > monotonic_ns())
		return 0;
	s->have_ahead = false;
	refused = file_filter(s);
	if (refused < 0)
		return refused;
	source_offered(&s->counts, s->ahead.orig_len, refused);
	return refused ? -EAGAIN : file_give(s, out);
}

static int file_next(struct source *base, struct source_frame *out)
{
	struct source_file *s = (struct source_file *)base;
	int got, tries = 0;

	do
		got = file_take(s, out);
	while (got == -EAGAIN && ++tries < REFUSED_MAX);
	return got == -EAGAIN ? 0 : got;
}

static void file_wait(struct source *base, int timeout_ms)
{
	struct source_file *s = (struct source_file *)base;
	uint64_t until = monotonic_ns() + timeout_ms * 1000000ULL;
	struct timespec t;

	if (!s->have_ahead) {
		pcap_ready(&s->reader, timeout_ms);
		return;
	}
	if (file_due_ns(s) < until)
		until = file_due_ns(s);
	t.tv_sec = until / 1000000000ULL;
	t.tv_nsec = until % 1000000000ULL;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void file_counters(const struct source *base, unsigned int interface,
			  struct saluki_counters *out)
{
	(void)interface;
	source_counts_read(out, &((const struct source_file *)base)->counts);
}

static void file_snaplen(struct source *base, uint32_t snaplen)
{
	__atomic_store_n(&((struct source_file *)base)->snaplen, snaplen, __ATOMIC_RELAXED);
}

static void file_close(struct source *base)
{
	struct source_file *s = (struct source_file *)base;

	pcap_close(&s->reader);
	free(s);
}

static const struct source_ops file_ops = {
	.next = file_next,
	.wait = file_wait,
	.snaplen = file_snaplen,
	.counters = file_counters,
	.close = file_close,
};

struct source *source_file_open(const struct handover *h, const int *fds,
				const struct filter_given *filter)
{
	struct source_file *s = calloc(1, sizeof(*s));
	struct stat st;

	if (!s || pcap_init(&s->reader, fds[HANDOVER_FD_FILE])) {
		log_line("%s: out of memory", h->interfaces[0].name);
		if (s)
			file_close(&s->base);
		return NULL;
	}
	s->base.ops = &file_ops;
	s->base.interfaces = 1;
	s->h = *h;
	s->snaplen = h->snaplen;
	s->given = filter;
	s->filter_linktype = -1;
	s->reader.pipe = fstat(s->reader.fd, &st) == 0 && !S_ISREG(st.st_mode);
	/* A pipe may be silent for long, so the capture thread waits for the header.
	 */
	if (!s->reader.pipe && file_start(s)) {
		file_close(&s->base);
		return NULL;
	}
	return &s->base;
}
