/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consumers: the user-level half of a module, an unprivileged program that reads the module's
 * events and maps, and reports. This file has all that its author needs. Only reading maps needs a
 * library, libbpf.
 *
 *     #include <saluki/consumer.h>
 *
 *     int main(void)
 *     {
 *             struct consumer c;
 *             struct consumer_event e;
 *             int err = consumer_open(&c, "count");
 *
 *             while (!err && (err = consumer_next(&c, &e, -1)) >= 0)
 *                     if (err == 1)
 *                             ...
 *             consumer_close(&c);
 *             return err == -ENODATA ? 0 : 1;
 *     }
 *
 * On the sensor, `saluki module consume -i IF count -- PROGRAM` runs it as nobody, with the events
 * and maps of the module on that interface. At the collector, it reads the events of all sensors
 * from its standard input, as lines of JSON: `PROGRAM <DIR/count.jsonl`. There it has no maps.
 */
#ifndef SALUKI_CONSUMER_H
#define SALUKI_CONSUMER_H

#include <errno.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "consumed.h"
#include "consumer_lines.h"

#define CONSUMER_BUFFER 65536 /* bytes; no line is longer */

/* An event is valid until the next consumer_next(). */
struct consumer_event {
	__u64 time_ns;			/* since 1970, the frame's */
	__u64 serial;			/* the module's serial */
	const char *sensor, *interface; /* "" on the sensor */
	__u8 direction;			/* of the frame: 1 in, 2 out */
	__u32 len;			/* bytes of `data`: 1 to MODULE_EVENT_MAX */
	const void *data;		/* aligned to 8 bytes */
};

struct consumer {
	const char *module;
	bool ended;
	__u64 bad_lines; /* malformed lines, skipped */

	/* The ring of `saluki module consume`: as libbpf's and the kernel's ringbuf.c have it. */
	int ring_fd, end_fd; /* -1: lines */
	size_t ring_size, page;
	__u64 *read_up_to; /* shared with the kernel */
	const __u64 *written_up_to;
	const __u8 *records;
	__u64 next;
	__u64 realtime_minus_monotonic_ns, measured_ns;

	/* Lines. */
	size_t from, to; /* the unread part of the buffer */
	struct consumer_line line;
	_Alignas(8) __u8 data[MODULE_EVENT_MAX];
	char buffer[CONSUMER_BUFFER];
};

/* ---- the ring -------------------------------------------------------------------------------- */

static inline __u64 consumer_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Frames have CLOCK_MONOTONIC stamps, events have CLOCK_REALTIME, which may be set. So the
 * difference is measured once a second. */
static inline __u64 consumer_realtime(struct consumer *c, __u64 monotonic_ns)
{
	__u64 now = consumer_clock(CLOCK_MONOTONIC);

	if (!c->measured_ns || now - c->measured_ns >= 1000000000) {
		c->realtime_minus_monotonic_ns = consumer_clock(CLOCK_REALTIME) - now;
		c->measured_ns = now;
	}
	return monotonic_ns + c->realtime_minus_monotonic_ns;
}

static inline int consumer_open_ring(struct consumer *c, const char *given)
{
	void *p;

	if (sscanf(given, "%d:%zu:%d", &c->ring_fd, &c->ring_size, &c->end_fd) != 3)
		return -EINVAL;
	c->page = sysconf(_SC_PAGESIZE);
	p = mmap(NULL, c->page, PROT_READ | PROT_WRITE, MAP_SHARED, c->ring_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	c->read_up_to = (__u64 *)p;
	/* The records are mapped twice, one copy after the other, so that every record is
	 * contiguous. */
	p = mmap(NULL, c->page + 2 * c->ring_size, PROT_READ, MAP_SHARED, c->ring_fd, c->page);
	if (p == MAP_FAILED)
		return -errno;
	c->written_up_to = (const __u64 *)p;
	c->records = (const __u8 *)p + c->page;
	c->next = __atomic_load_n(c->read_up_to, __ATOMIC_ACQUIRE);
	return 0;
}

/* The next record, or NULL. */
static inline const struct saluki_consumed *consumer_record(struct consumer *c)
{
	while (c->next < __atomic_load_n(c->written_up_to, __ATOMIC_ACQUIRE)) {
		const __u8 *at = c->records + (c->next & (c->ring_size - 1));
		__u32 word = __atomic_load_n((const __u32 *)at, __ATOMIC_ACQUIRE);
		__u32 len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			return NULL; /* it is being written */
		c->next += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
		if (!(word & BPF_RINGBUF_DISCARD_BIT))
			return (const struct saluki_consumed *)(at + BPF_RINGBUF_HDR_SZ);
	}
	return NULL;
}

static inline bool consumer_take_record(struct consumer *c, struct consumer_event *e)
{
	const struct saluki_consumed *r;

	/* The previous event's space is free now. */
	__atomic_store_n(c->read_up_to, c->next, __ATOMIC_RELEASE);
	r = consumer_record(c);
	if (!r)
		return false;
	*e = (struct consumer_event){ .time_ns = consumer_realtime(c, r->time_ns),
				      .serial = r->serial,
				      .sensor = "",
				      .interface = "",
				      .direction = r->direction,
				      .len = r->len,
				      .data = r->bytes };
	return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads more of standard input, after the part of a line in the buffer. */
static inline int consumer_read(struct consumer *c)
{
	ssize_t n;

	memmove(c->buffer, c->buffer + c->from, c->to - c->from);
	c->to -= c->from;
	c->from = 0;
	if (c->to == CONSUMER_BUFFER - 1) { /* longer than any line: skip the rest too */
		c->to = 0;
		c->bad_lines++;
	}
	n = read(STDIN_FILENO, c->buffer + c->to, CONSUMER_BUFFER - 1 - c->to);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n == 0 && c->to > c->from) { /* the last line may lack a newline */
		c->buffer[c->to] = '\n';
		n = 1;
	} else if (n == 0) {
		c->ended = true;
	}
	c->to += n;
	return 1;
}

static inline bool consumer_take_line(struct consumer *c, struct consumer_event *e)
{
	char *text = c->buffer + c->from, *end;

	while ((end = (char *)memchr(text, '\n', c->buffer + c->to - text))) {
		struct consumer_line *l = &c->line;

		*end = 0;
		c->from = end + 1 - c->buffer;
		if (!lines_read(l, text))
			c->bad_lines++;
		else if (!strcmp(l->module, c->module))
			break;
		text = end + 1;
	}
	if (!end)
		return false;
	memcpy(c->data, c->line.data, sizeof(c->data));
	*e = (struct consumer_event){ .time_ns = c->line.time_ns,
				      .serial = c->line.serial,
				      .sensor = c->line.sensor,
				      .interface = c->line.interface,
				      .direction = c->line.direction,
				      .len = c->line.len,
				      .data = c->data };
	return true;
}

/* ---- for programs ---------------------------------------------------------------------------- */

/* Call it last, also if consumer_open() failed. */
static inline void consumer_close(struct consumer *c)
{
	if (c->written_up_to)
		munmap((void *)c->written_up_to, c->page + 2 * c->ring_size);
	if (c->read_up_to)
		munmap(c->read_up_to, c->page);
	if (c->ring_fd >= 0)
		close(c->ring_fd);
	if (c->end_fd >= 0)
		close(c->end_fd);
	c->written_up_to = c->read_up_to = NULL;
	c->ring_fd = c->end_fd = -1;
}

/* `module`: the module's name; events of others are skipped. Returns 0, or -errno after a line on
 * standard error. `c` has 70 KB: better static than on a small stack. */
static inline int consumer_open(struct consumer *c, const char *module)
{
	const char *given = getenv(SALUKI_ENV_EVENTS), *name = getenv(SALUKI_ENV_MODULE);
	int err = 0;

	memset(c, 0, sizeof(*c));
	c->module = module;
	c->ring_fd = c->end_fd = -1;
	if (given && name && strcmp(name, module)) {
		fprintf(stderr, "%s: reads events of %s, and was started for %s\n", module, module,
			name);
		return -EINVAL;
	}
	if (given)
		err = consumer_open_ring(c, given);
	else if (isatty(STDIN_FILENO))
		fprintf(stderr,
			"%s: reads lines of JSON from standard input; on a sensor: saluki module "
			"consume -i IF %s -- PROGRAM\n",
			module, module);
	if (err)
		fprintf(stderr, "%s: cannot read the events: %s\n", module, strerror(-err));
	return err;
}

/* Returns a read-only descriptor of the module's map, for libbpf's bpf_map_lookup_elem and
 * bpf_map_get_next_key. It stays open until the consumer ends. Returns -ENOENT if the map does not
 * exist, or the input is lines. Unprivileged programs can look maps up since Linux 5.19. Before,
 * lookups fail with EPERM unless kernel.unprivileged_bpf_disabled is 0. A map that works on all
 * kernels is an array with BPF_F_MMAPABLE, mapped with PROT_READ. */
static inline int consumer_map(struct consumer *c, const char *map)
{
	const char *at = getenv(SALUKI_ENV_MAPS);
	size_t len = strlen(map);

	(void)c;
	while (at && *at) {
		if (!strncmp(at, map, len) && at[len] == ':')
			return atoi(at + len + 1);
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return -ENOENT;
}

/* Waits until there may be something new. Returns 1, 0 after a timeout or a signal, or -errno. */
static inline int consumer_wait(struct consumer *c, int timeout_ms)
{
	struct pollfd on[2] = { { .fd = c->ring_fd >= 0 ? c->ring_fd : STDIN_FILENO,
				  .events = POLLIN },
				{ .fd = c->end_fd, .events = POLLIN } };
	int n = poll(on, 2, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return 0;
	if (c->ring_fd < 0)
		return consumer_read(c);
	c->ended |= on[1].revents != 0;
	return 1;
}

/* Waits for the next event, at most `timeout_ms` (-1: without limit). Returns 1 with the event in
 * `e`; 0 after a timeout or a signal; -ENODATA at the end: the module was unloaded or replaced, or
 * the lines ended; or another -errno. */
static inline int consumer_next(struct consumer *c, struct consumer_event *e, int timeout_ms)
{
	__u64 begin_ms = consumer_clock(CLOCK_MONOTONIC) / 1000000;
	int got = 1, left_ms = timeout_ms;

	while (!(c->ring_fd >= 0 ? consumer_take_record(c, e) : consumer_take_line(c, e))) {
		if (c->ended)
			return -ENODATA;
		if (got > 0 && timeout_ms >= 0) {
			__u64 waited_ms = consumer_clock(CLOCK_MONOTONIC) / 1000000 - begin_ms;

			left_ms = waited_ms < (__u64)timeout_ms ? timeout_ms - (int)waited_ms : 0;
		}
		got = consumer_wait(c, left_ms);
		if (got <= 0)
			return got;
	}
	return 1;
}

#endif
