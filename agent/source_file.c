// SPDX-License-Identifier: GPL-2.0
/*
 * Source: a capture file (`-r`). In: pcap or pcapng. Out: frames cut as the kernel would have
 * cut them (bpf/trim.h), as fast as they are taken or, with --pace, at the trace's own speed.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <saluki/linktype.h>
#include <saluki/log.h>

#include "bpf/trim.h"
#include "clock.h"
#include "pcap_read.h"

struct source_file {
	struct source base;
	struct handover h;
	struct pcap_reader reader;
	struct pcap_frame ahead; /* read, but with --pace not due yet */
	bool have_ahead;
	uint64_t trace_start_ns, start_ns; /* --pace: both clocks at the first frame */
	/* Read by other threads, one field at a time. */
	struct saluki_counters counters;
};

static void count(__u64 *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static int file_start(struct source_file *s)
{
	int err = pcap_start(&s->reader);

	if (err)
		log_line("%s: %s; give a capture file as tcpdump -w or dumpcap write it", s->h.name,
			 s->reader.why);
	return err ? -EBADMSG : 0;
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
		log_line("%s: %s, at byte %llu; the frames in front of it are kept", s->h.name,
			 s->reader.why, (unsigned long long)s->reader.offset);
	if (got == 1 && s->h.keep_headers && s->h.keep_was_asked_for &&
	    !linktype_has_trim(s->ahead.linktype)) {
		log_line("%s: link type %u: its headers are not known; use --keep all", s->h.name,
			 s->ahead.linktype);
		return -EBADMSG;
	}
	s->have_ahead = got == 1;
	return got == 1 ? 1 : got == 0 ? -ENODATA : -EBADMSG;
}

static uint64_t file_due_ns(struct source_file *s)
{
	if (!s->start_ns) {
		s->start_ns = monotonic_ns();
		s->trace_start_ns = s->ahead.time_ns;
	}
	if (s->ahead.time_ns < s->trace_start_ns)
		return s->start_ns; /* traces may go back */
	return s->start_ns + (s->ahead.time_ns - s->trace_start_ns);
}

static int file_next(struct source *base, struct source_frame *out)
{
	struct source_file *s = (struct source_file *)base;
	struct pcap_frame *p = &s->ahead;
	struct frame f;
	uint64_t now;
	int headers;

	if (!s->have_ahead) {
		int got = file_read(s);

		if (got != 1)
			return got;
	}
	now = monotonic_ns();
	if (s->h.pace && file_due_ns(s) > now)
		return 0;
	s->have_ahead = false;

	f = (struct frame){ p->data, p->data + p->cap_len, p->orig_len, 0 };
	headers = s->h.keep_headers && (s->h.keep_was_asked_for || linktype_is_80211(p->linktype));
	out->frame.kept_len = trim_frame(&f, p->cap_len, p->linktype, headers, s->h.snaplen);
	out->frame.time_ns = p->time_ns;
	out->frame.orig_len = p->orig_len;
	out->frame.linktype = p->linktype;
	out->frame.interface = 0;
	out->frame.direction = SALUKI_DIRECTION_UNKNOWN;
	out->frame.data = p->data;
	out->heard_ns = now;
	out->taken = 0;
	count(&s->counters.seen, 1);
	count(&s->counters.captured, 1);
	count(&s->counters.seen_bytes, p->orig_len);
	count(&s->counters.kept_bytes, out->frame.kept_len);
	count(&s->counters.malformed, f.malformed);
	return 1;
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

static uint64_t file_mark(struct source *base)
{
	(void)base;
	return 0;
}

static void file_release(struct source *base, uint64_t mark)
{
	(void)base;
	(void)mark;
}

static void file_counters(const struct source *base, struct saluki_counters *out)
{
	const __u64 *from = (const __u64 *)&((const struct source_file *)base)->counters;
	__u64 *to = (__u64 *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(__u64); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
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
	.mark = file_mark,
	.release = file_release,
	.counters = file_counters,
	.close = file_close,
};

struct source *source_file_open(const struct handover *h, const int *fds)
{
	struct source_file *s = calloc(1, sizeof(*s));
	struct stat st;

	if (!s || pcap_init(&s->reader, fds[HANDOVER_FD_FILE])) {
		log_line("%s: out of memory", h->name);
		if (s)
			file_close(&s->base);
		return NULL;
	}
	s->base.ops = &file_ops;
	s->h = *h;
	s->reader.pipe = fstat(s->reader.fd, &st) == 0 && !S_ISREG(st.st_mode);
	/* A pipe may say nothing for a long time: its header is the capture thread's to wait for.
	 */
	if (!s->reader.pipe && file_start(s)) {
		file_close(&s->base);
		return NULL;
	}
	return &s->base;
}
