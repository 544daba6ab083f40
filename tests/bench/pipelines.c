// SPDX-License-Identifier: GPL-2.0
/*
 * pipelines FILE HOST PORT PIPELINES SECONDS: the frames per second that the sensor's threads carry
 * from mapped rings to sent datagrams. Runs on the CPUs that the caller allows.
 *
 * The rings are in this program's memory, and always full: released records come again without any
 * work. The capture thread and the pipelines' threads are the agent's own. The main thread does
 * what the export thread does with combos: it numbers, stores, seals and sends them, and releases
 * the ring. It handles no ACKs. Datagrams go to HOST:PORT, which drops them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/capture/capture.h"
#include "agent/export/pipeline.h"
#include "agent/export/session_send.h"
#include "agent/export/sockets.h"
#include "agent/export/store.h"
#include "agent/rings/mapped.h"
#include "bpf/trim.h"
#include "common/monotonic.h"
#include "common/pcap_read.h"
#include "wire/message.h"

#include "connect.h"

#define RING_SIZE (4 << 20) /* the default of -B */
#define LANES 2
#define SNAPLEN 192
#define AGE_MS 60000
#define AHEAD_NS 1000000000000ULL /* frames are stamped so late that no combo closes by age */
#define STEP_NS 1000

struct memory_source {
	struct source base;
	struct mapped rings;
	struct clock_offset clock;
	uint8_t *memory;
	int released_fd;
};

static struct bench {
	struct memory_source source;
	struct queue queue;
	struct capture capture;
	struct pipeline pipelines[PIPELINES_MAX];
	struct compressor compressors[1 + PIPELINES_MAX];
	struct compressor_sight sight;
	struct store store;
	struct session_send pieces;
	struct shroud_tx tx;
	int sock;
	uint8_t wire[COMBO_WIRE_MAX];
	uint64_t frames, combos;
} b;

static void die(const char *what)
{
	fprintf(stderr, "pipelines: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the source ------------------------------------------------------------------------------ */

/* All records of a ring follow one another up to its end, so they are valid at all positions. */
static void refill(struct mapped *m)
{
	for (uint32_t i = 0; i < m->lanes_len; i++) {
		struct saluki_mapped *r = m->lanes[i].ring;
		uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);

		__atomic_store_n(&r->head, tail + m->size, __ATOMIC_RELEASE);
	}
}

static int memory_next(struct source *s, struct source_frame *f)
{
	struct memory_source *x = (struct memory_source *)s;
	const struct saluki_record *r = mapped_next(&x->rings);

	if (!r) {
		refill(&x->rings);
		r = mapped_next(&x->rings);
	}
	if (!r)
		return 0;
	f->taken = x->rings.taken;
	source_record(f, r, &x->clock);
	return 1;
}

static void memory_wait(struct source *s, int timeout_ms)
{
	event_wait(((struct memory_source *)s)->released_fd, timeout_ms);
}

static void memory_mark(struct source *s, bool with_last, __u64 *mark)
{
	mapped_mark(&((struct memory_source *)s)->rings, with_last, mark);
}

static void memory_pass(const struct source *s, __u64 *mark, const struct combo_frame *f)
{
	mapped_pass(&((const struct memory_source *)s)->rings, mark, source_record_of(f),
		    f->kept_len);
}

static void memory_release(struct source *s, const __u64 *mark)
{
	mapped_release(&((struct memory_source *)s)->rings, mark);
	event_signal(((struct memory_source *)s)->released_fd);
}

static uint32_t memory_filled(const struct source *s)
{
	(void)s;
	return 0; /* as if frames came only as fast as they are taken: the level stays */
}

static const struct source_ops memory_ops = {
	.next = memory_next,
	.wait = memory_wait,
	.mark = memory_mark,
	.pass = memory_pass,
	.release = memory_release,
	.filled = memory_filled,
};

/* Appends a record, unless the ring's end is reached. */
static bool put(struct saluki_mapped *r, const struct pcap_frame *in, uint64_t time_ns)
{
	struct frame parse = { .data = in->data,
			       .end = in->data + in->cap_len,
			       .orig_len = in->orig_len };
	struct saluki_record *record = (void *)(r->data + r->head);

	if (r->head == RING_SIZE)
		return false;
	record->time_ns = time_ns;
	record->orig_len = in->orig_len;
	record->kept_len = trim_frame(&parse, in->cap_len, in->linktype, true, SNAPLEN);
	record->linktype = in->linktype;
	memcpy(record + 1, in->data, record->kept_len);
	r->head = saluki_mapped_next(r->head, record->kept_len, RING_SIZE);
	return true;
}

/* Frames go to the rings in turn, again and again until all rings are full. */
static void fill_rings(const char *path, struct mapped *m)
{
	uint64_t time_ns = monotonic_ns() + AHEAD_NS, n = 0, before;
	struct pcap_reader reader;
	struct pcap_frame f;

	do {
		before = n;
		if (pcap_open(&reader, open(path, O_RDONLY | O_CLOEXEC)))
			die(path);
		while (pcap_next(&reader, &f) == 1) {
			n += put(m->lanes[n % LANES].ring, &f, time_ns) ||
			     put(m->lanes[(n + 1) % LANES].ring, &f, time_ns);
			time_ns += STEP_NS;
		}
		pcap_close(&reader);
	} while (n > before);
	for (uint32_t i = 0; i < LANES; i++)
		m->lanes[i].ring->head = 0;
}

static void open_source(const char *path)
{
	struct memory_source *x = &b.source;

	x->memory = aligned_alloc(4096, LANES * mapped_value_size(RING_SIZE));
	if (!x->memory)
		die("memory");
	memset(x->memory, 0, LANES * mapped_value_size(RING_SIZE));
	x->base = (struct source){ .ops = &memory_ops, .interfaces = 1, .lanes = LANES };
	x->released_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mapped_init(&x->rings, x->memory, RING_SIZE, LANES))
		die("memory");
	fill_rings(path, &x->rings);
	clock_measure(&x->clock, monotonic_ns());
}

/* ---- the export thread ----------------------------------------------------------------------- */

static void open_session(const char *host, const char *port)
{
	struct shroud_keys keys;

	b.sock = connect_to(host, port);
	if (b.sock < 0)
		die(host);
	b.pieces.segments = sockets_can_segment(b.sock);
	randombytes_buf(&keys, sizeof(keys));
	shroud_tx_init(&b.tx, &keys);
}

static void send_combo(uint64_t number, const struct store_combo *c)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];

	for (size_t at = 0; at < c->len; at += PIECE_DATA_MAX) {
		size_t n = c->len - at < PIECE_DATA_MAX ? c->len - at : PIECE_DATA_MAX;

		piece_header_write(message, number, at, c->len);
		store_read(&b.store, c, at, n, message + PIECE_HEADER_LEN);
		session_send_seal(&b.pieces, &b.tx, message, PIECE_HEADER_LEN + n, 0);
		if (b.pieces.count == SESSION_SEND_MAX)
			session_send(&b.pieces, b.sock);
	}
}

static void export_slot(struct slot *s)
{
	struct combo *c = &s->combo;
	const struct store_combo *stored;

	if (!s->wire_len) {
		c->first = b.frames;
		combo_close(c);
		s->wire = b.wire;
		s->wire_len = compressor_run(&b.compressors[0], c, s->wire, &b.sight,
					     queue_is_full(&b.queue), 0);
	}
	if (c->first != b.frames) {
		fprintf(stderr, "pipelines: a combo is out of order\n");
		exit(1);
	}
	combo_header_write(s->wire, 0, b.combos, c->frames, c->body_len);
	stored = store_put(&b.store, s->wire, s->wire_len);
	if (!stored)
		die("store");
	send_combo(b.combos, stored);
	session_send(&b.pieces, b.sock);
	b.frames += c->frames;
	store_settle(&b.store, ++b.combos);
	b.source.base.ops->release(&b.source.base, s->ends);
	queue_pop(&b.queue);
}

static void export_until(uint64_t end_ns)
{
	while (monotonic_ns() < end_ns) {
		struct slot *s = queue_front(&b.queue);

		if (s)
			export_slot(s);
		else
			event_wait(b.queue.filled_fd, 100);
	}
}

/* ---- main ------------------------------------------------------------------------------------ */

static void prepare(unsigned int pipelines)
{
	const struct handover h = { .kind = HANDOVER_RING, .ring_size = RING_SIZE };

	size_t size = COMBO_SIZE_DEFAULT;

	if (pipelines > 1)
		size = queue_size_max(size);
	if (queue_init(&b.queue, queue_slots(QUEUE_LEN, pipelines), size, SNAPLEN, LANES) ||
	    (pipelines > 1 && queue_init_pipelines(&b.queue, pipelines, COMBO_SIZE_DEFAULT)) ||
	    store_init(&b.store, 1 << 20) ||
	    capture_init(&b.capture, &b.source.base, &b.queue, &h, AGE_MS))
		die("memory");
	for (unsigned int i = 0; i <= b.queue.pipelines; i++)
		if (compressor_init(&b.compressors[i], LEVEL_USUAL, true, COMBO_SIZE_DEFAULT))
			die("memory");
	for (unsigned int i = 0; i < b.queue.pipelines; i++)
		if (pipeline_init(&b.pipelines[i], &b.queue, &b.source.base, &b.compressors[1 + i],
				  &b.sight))
			die("memory");
	capture_begin(&b.capture, 0, 0);
}

static void say_cpu(const char *name, pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		die(name);
	printf("ns_%s %.1f\n", name, (double)clock_ns(clock) / b.frames);
}

static void run(double seconds)
{
	pthread_t threads[1 + PIPELINES_MAX];
	unsigned int n = 0;
	uint64_t begin = monotonic_ns();

	pthread_create(&threads[n++], NULL, capture_thread, &b.capture);
	for (unsigned int i = 0; i < b.queue.pipelines; i++)
		pthread_create(&threads[n++], NULL, pipeline_thread, &b.pipelines[i]);
	export_until(begin + (uint64_t)(seconds * 1e9));
	printf("frames_per_s %.0f\n", b.frames * 1e9 / (monotonic_ns() - begin));
	say_cpu("capture", threads[0]);
	say_cpu("export", pthread_self());
	printf("ns_cpu %.1f\n", (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / b.frames);
	printf("frames_a_combo %.1f\n", (double)b.frames / b.combos);
	exit(0); /* with all threads */
}

int main(int argc, char **argv)
{
	long pipelines = argc == 6 ? atol(argv[4]) : 0;

	if (pipelines < 1 || pipelines > PIPELINES_MAX) {
		fprintf(stderr, "Usage: pipelines FILE HOST PORT PIPELINES SECONDS\n");
		return 2;
	}
	if (sodium_init() < 0)
		die("libsodium");
	open_source(argv[1]);
	open_session(argv[2], argv[3]);
	prepare(pipelines);
	run(atof(argv[5]));
}
