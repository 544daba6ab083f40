// SPDX-License-Identifier: GPL-2.0
/*
 * The unprivileged process: the three threads of the paper's figure 1.
 *
 *     source ─▶ capture thread ─▶ combo queue ─▶ export thread ─▶ collector
 *                                  control thread: session, orders, ledger
 *
 * With --pipelines, more threads fill the queue's combos (agent/export/pipeline.h).
 * All memory is allocated here, before the threads start.
 */
#include "sensor.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stddef.h>
#include <unistd.h>

#include "agent/capture/capture.h"
#include "agent/control/control.h"
#include "agent/control/generation.h"
#include "agent/export/export.h"
#include "agent/export/one_way.h"
#include "agent/export/pipeline.h"
#include "agent/export/resume.h"
#include "agent/export/handshake_slots.h"
#include "agent/process/sandbox.h"
#include "agent/radio/sampler.h"
#include "agent/source/source.h"
#include "common/log.h"
#include "common/notify.h"
#include "common/privsep.h"
#include "wire/keys.h"

#define FILE_PATIENCE_NS 10000000000ULL /* -r: longest wait for a collector's answer */
#define STOP_PATIENCE_NS 2000000000ULL	/* -i: the same after a stop */

/* A small store needs a small queue. */
#define STORE_SMALL (512 * 1024)
#define WINDOW_SMALL 256

struct sensor {
	struct handover handover;
	int fds[PRIVSEP_FDS_MAX];
	int compiler; /* socket to the compiler, -1 */
	struct capture capture;
	struct control control;
	struct session session;
	struct session_keys_file keys_file;
	struct exporter exporter;
	struct queue queue;
	struct pipeline pipelines[PIPELINES_MAX];
	struct one_way one_way;
};

static int sensor_keys(struct sensor *s, const struct run_options *o)
{
	struct keypair own;
	struct keys_peers peers;
	const char *why;
	int err = keys_read(s->fds[HANDOVER_FD_KEY], &own, &peers, &why);

	close(s->fds[HANDOVER_FD_KEY]);
	if (err)
		log_line("--key %s: %s", o->key_file, why);
	else
		err = session_init(&s->session, o->to, o->to_count, &own, &peers);
	sodium_memzero(&own, sizeof(own));
	sodium_memzero(&peers, sizeof(peers));
	if (!err && s->keys_file.path) {
		s->session.keys_file = s->keys_file;
		session_keys_load(&s->session);
	}
	keys_lock(&s->session, offsetof(struct session, outbox));
	keys_lock(&s->exporter.deliver.path, sizeof(s->exporter.deliver.path));
	s->session.pad = o->pad;
	s->session.renew_ns = o->renew_s * 1000000000ULL;
	if (o->store_bytes <= STORE_SMALL)
		s->session.window = WINDOW_SMALL;
	if (err || !o->one_way)
		return err;
	return one_way_start(&s->one_way, &s->session, &s->exporter.deliver);
}

static struct source *sensor_source(const struct handover *h, const int *fds,
				    const struct run_options *o)
{
	switch (h->kind) {
	case HANDOVER_FILE:
		return source_file_open(h, fds, &o->capture.filter);
	case HANDOVER_RING:
		return source_ring_open(h, fds);
	case HANDOVER_XSK:
		return source_xsk_open(h, fds);
	case HANDOVER_MMAP:
		return source_mmap_open(h, fds);
	default:
		return NULL;
	}
}

/* Returns the number of pipelines; 0: the capture thread fills combos. Listed frames must stay in
 * their ring, and dwells are put between frames when they are heard. */
static unsigned int sensor_pipelines(const struct sensor *s, const struct run_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = o->pipelines
				 ?: (cpus / 4 < s->handover.queues ? cpus / 4 : s->handover.queues);

	if (n <= 1)
		return 0;
	if (QUEUE_LISTS && s->exporter.source->lanes &&
	    !sampler_is_needed(&o->capture, &s->handover))
		return n < PIPELINES_MAX ? n : PIPELINES_MAX;
	if (o->pipelines)
		log_line("--pipelines %u: goes with --source xdp and tc, without sampled channels; "
			 "one pipeline is used",
			 o->pipelines);
	return 0;
}

static int sensor_compressors(struct exporter *e, const struct run_options *o, unsigned int n,
			      bool is_file)
{
	int err = 0;

	/* A file's frames wait for their export, so the CPU never is a reason for another level. */
	for (; !err && e->compressors_len <= n; e->compressors_len++)
		err = compressor_init(&e->compressors[e->compressors_len], o->level, is_file,
				      o->combo_size);
	return err;
}

/* Allocates combos; larger ones if an earlier agent's larger combo waits to be sent again. */
static int sensor_combos(struct sensor *s, const struct run_options *o)
{
	struct exporter *e = &s->exporter;
	bool pending = journal_state(&e->journal) == SALUKI_JOURNAL_PENDING;
	unsigned int pipelines = sensor_pipelines(s, o);
	uint32_t snaplen = s->handover.snaplen, size = o->combo_size;
	int err;

	if (snaplen < s->handover.snaplen_max)
		snaplen = s->handover.snaplen_max;
	if (pipelines)
		size = queue_size_max(size);
	err = queue_init(&s->queue, queue_slots(o->queue, pipelines),
			 pending ? COMBO_SIZE_MAX : size, snaplen, e->source->lanes);
	queue_set_size(&s->queue, size);
	if (!err && pipelines)
		err = queue_init_pipelines(&s->queue, pipelines, o->combo_size);
	err = err ?: sensor_compressors(e, o, pipelines, e->is_file);
	for (unsigned int i = 0; !err && i < pipelines; i++)
		err = pipeline_init(&s->pipelines[i], &s->queue, e->source, &e->compressors[1 + i],
				    &e->sight);
	if (err)
		log_line("cannot take memory for combos: %s", strerror(-err));
	return err;
}

static int sensor_init(struct sensor *s, const struct run_options *o)
{
	const struct handover *h = &s->handover;
	struct source *source = sensor_source(h, s->fds, o);
	struct exporter *e = &s->exporter;
	int journal = h->kind == HANDOVER_RING ? s->fds[HANDOVER_FD_JOURNAL] : -1, err;

	if (!source)
		return -EINVAL;
	err = export_init(e, source, &s->queue, &s->session, h, journal) ?: sensor_combos(s, o);
	if (err)
		return err;
	/* One-way sessions may send only after some seconds. */
	e->patience_ns = e->is_file || o->one_way ? FILE_PATIENCE_NS : STOP_PATIENCE_NS;
	err = capture_init(&s->capture, source, &s->queue, h, o->combo_age_ms);
	e->watermark = source->clock ? &s->capture.watermark : NULL;
	err = err
		      ?: commands_init(&s->control.orders, o->allowed, h, s->control.privileged,
				       s->compiler);
	err = err ?: control_init(&s->control, &s->capture, e, h, &o->capture);
	/* Continues where the earlier agent stopped. */
	err = err ?: resume(e) ?: export_start(e, o->store_bytes);
	if (err)
		return err;
	e->limit = h->limit ? export_first(e) + h->limit : 0;
	return capture_begin(&s->capture, export_first(e), h->limit);
}

/* Threads name themselves: naming another thread needs a file in /proc. */
static void *capture_named(void *arg)
{
	pthread_setname_np(pthread_self(), "capture");
	return capture_thread(arg);
}

static void *export_then_signal(void *arg)
{
	struct sensor *s = arg;

	pthread_setname_np(pthread_self(), "export");
	export_thread(&s->exporter);
	event_signal(s->control.done_fd);
	return NULL;
}

static void *pipeline_named(void *arg)
{
	pthread_setname_np(pthread_self(), "pipeline");
	return pipeline_thread(arg);
}

static int sensor_threads(struct sensor *s)
{
	pthread_t capture, export, pipelines[PIPELINES_MAX];
	unsigned int n = queue_pipelines(&s->queue);
	int err;

	err = s->exporter.spool ? -spool_start(s->exporter.spool) : 0;
	for (unsigned int i = 0; !err && i < n; i++)
		err = pthread_create(&pipelines[i], NULL, pipeline_named, &s->pipelines[i]);
	if (!err)
		err = pthread_create(&export, NULL, export_then_signal, s);
	if (!err)
		err = pthread_create(&capture, NULL, capture_named, &s->capture);
	if (err) {
		log_line("cannot start threads: %s", strerror(err));
		return -err;
	}
	control_loop(&s->control);
	pthread_join(capture, NULL);
	pthread_join(export, NULL);
	queue_stop(&s->queue);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(pipelines[i], NULL);
	return 0;
}

static void tell_unconfirmed(const struct sensor *s)
{
	if (s->exporter.deliver.path.generation)
		log_line("collector %s: did not confirm the end of the run", s->session.peer);
	else
		session_tell_failed(&s->session);
}

/* Returns the exit status after a run. */
static int sensor_verdict(struct sensor *s)
{
	struct totals t;

	export_totals(&s->exporter, &t);
	/* A local collector that could not begin has said why, and has its own exit status. */
	if (!s->session.reach.ended || t.captured)
		control_report(&s->exporter);
	if (s->session.reach.ended)
		return 0;
	if (t.dropped_shutdown > s->exporter.beyond || s->exporter.outcome == EXPORT_UNCONFIRMED) {
		tell_unconfirmed(s);
		return 1;
	}
	return s->capture.failed || t.dropped_send || s->exporter.outcome == EXPORT_INCOMPLETE;
}

/* Opens files, drops privilege, and starts the helpers, before there are keys and frames. */
static int sensor_open(struct sensor *s, const struct run_options *o)
{
	handshake_slots_open(HANDSHAKE_SLOTS_PATH);
	if (o->spool) {
		s->exporter.spool = spool_open_file(o->spool, o->spool_bytes);
		if (!s->exporter.spool)
			return -1;
	}
	if (o->collector_keys && session_keys_open(&s->keys_file, o->collector_keys))
		return -1;
	if (privsep_drop(o->user))
		return -1;
	s->compiler = -1;
	if (o->allowed & 1u << WIRE_ORDER_FILTER && !o->file) {
		s->compiler = compile_filter_start();
		if (s->compiler < 0 && s->compiler != -EOPNOTSUPP)
			return -1;
	}
	if (lookup_start(&s->control.lookup, o->to, o->to_count))
		return -1;
	s->control.generation = generation_open();
	return 0;
}

static void sensor_free(struct sensor *s)
{
	s->capture.source->ops->close(s->capture.source);
	export_free(&s->exporter);
	for (unsigned int i = 0; i < queue_pipelines(&s->queue); i++)
		pipeline_free(&s->pipelines[i]);
	capture_free(&s->capture);
	queue_free(&s->queue);
	session_free(&s->session);
	sodium_memzero(&s->one_way, sizeof(s->one_way));
	control_free(&s->control);
}

int sensor_process(const struct run_options *o, int sock, struct shared_statistics *board,
		   struct terminal_line *line)
{
	/* Not from calloc: unused pages take no memory. */
	static struct sensor sensor;
	struct sensor *s = &sensor;
	int status;

	s->control.privileged = sock;
	s->control.board = board;
	s->exporter.local = o->local;
	s->control.room.told = o->local; /* for those who choose a -B for days */
	s->control.status.line = line;
	s->control.watched = notify_is_wanted();
	if (sensor_open(s, o))
		return 1;
	/* A privileged process that ends before the handover has logged the reason. */
	if (privsep_recv(sock, &s->handover, sizeof(s->handover), s->fds))
		return 1;
	if (sensor_keys(s, o) || sandbox_sensor() || sensor_init(s, o) || sensor_threads(s))
		return 1;
	terminal_line_say(line, "");
	log_settings.fd = o->report;
	status = sensor_verdict(s);
	sensor_free(s);
	return status;
}
