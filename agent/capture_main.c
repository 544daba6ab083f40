// SPDX-License-Identifier: GPL-2.0
/*
 * saluki capture: a sensor and a collector in one command, with keys that exist only while it runs.
 * Frames pass through the stages of `saluki run` (run.c) and of saluki-collector:
 *
 *     sensor ═▶ socket pair ═▶ saluki-collector ─▶ file, standard output
 *                                               ═▶ pipe ═▶ print/: a line for each frame
 *
 * local/ makes the keys, and starts the collector after everything is attached and before this
 * process enters its sandbox. The totals are logged after the last frame is printed. When the
 * collector ends, the sensor stops, and vice versa.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/interface/interface_list.h"
#include "agent/local/local_collector.h"
#include "agent/local/local_inputs.h"
#include "agent/local/local_keys.h"
#include "agent/local/local_output.h"
#include "agent/options/capture_command.h"
#include "agent/options/subcommands.h"
#include "common/log.h"
#include "common/options.h"
#include "common/privsep.h"
#include "print/print.h"
#include "run.h"
#include "wire/keys.h"

struct capture_run {
	struct capture_command c;
	struct local_collector collector;
	int output;    /* a pipe to the printing process; -1: none, or the collector has it */
	pid_t printer; /* 0: none */
	int totals;    /* with a printer: the reading end of run.report, a pipe */
};

/* Called after everything is attached and opened, so that a failed start does not empty -w FILE.
 * Empties the file, and starts the collector. Returns the sensor's key. */
static int capture_begin(void *arg)
{
	struct capture_run *r = arg;
	const struct capture_command *c = &r->c;
	const struct local_collector_options o = { .write = c->write ?: "-",
						   .size = c->size,
						   .time = c->time,
						   .files = c->files,
						   .user = c->run.user,
						   .quiet = c->run.log_level < LOG_LEVEL_NORMAL,
						   .output = r->output,
						   .report = c->run.report };
	struct local_keys keys;
	int err = c->write && !c->size && !c->time ? local_output_empty(c->write, c->run.file) : 0;

	err = err ?: local_keys_make(&keys);
	if (err)
		return err;
	err = local_collector_start(&r->collector, &keys, &o);
	r->c.run.helper = -r->collector.pid; /* a session of its own */
	local_keys_close(&keys);
	if (r->output >= 0)
		close(r->output);
	r->output = -1;
	return err ?: keys.sensor;
}

/* Checks the options before anything starts. */
static int capture_check(const struct capture_command *c)
{
	int err = local_collector_check() ?: local_inputs_check(&c->run.capture, c->run.file);

	err = err ?: privsep_check(c->run.user);
	if (!err && c->write && !c->size && !c->time)
		err = local_output_check(c->write, c->run.file);
	if (!err && keys_init()) {
		log_line("libsodium does not start on this machine");
		err = -ENOSYS;
	}
	return err;
}

/* The totals of both wait in a pipe, as the last frames may be printed after the two have ended. */
static int keep_totals(struct capture_run *r)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		log_line("cannot make a pipe: %s", strerror(errno));
		return -errno;
	}
	r->totals = ends[0];
	r->c.run.report = ends[1];
	return 0;
}

static void print_totals(const struct capture_run *r)
{
	char text[1024];
	ssize_t n;

	while ((n = read(r->totals, text, sizeof(text) - 1)) > 0) {
		text[n] = 0;
		log_report(text);
	}
}

/* The printing process starts first, so that it inherits no descriptor of the others. */
static int capture_start(struct capture_run *r)
{
	struct run_options *o = &r->c.run;
	int err = capture_check(&r->c);

	r->output = -1;
	if (!err && !r->c.write)
		r->output = err = print_start(&r->c.print, &r->printer);
	if (err > 0)
		err = keep_totals(r);
	err = err ?: local_collector_connect(&r->collector);
	if (err)
		return err;
	o->to_count = 1;
	o->to[0].inherited = r->collector.sock;
	o->begin = capture_begin;
	o->begin_arg = r;
	o->begin_fds[0] = r->collector.far;
	o->begin_fds[1] = r->output;
	return 0;
}

/* As in tcpdump, -i takes a number of -D's list. */
static int name_interfaces(struct capture_options *o)
{
	for (unsigned int i = 0; i < o->count; i++) {
		o->interfaces[i] = interface_list_name(o->interfaces[i]);
		for (unsigned int j = 0; j < i; j++)
			if (!strcmp(o->interfaces[i], o->interfaces[j])) {
				log_line("-i %s: given twice", o->interfaces[i]);
				return -EINVAL;
			}
	}
	return 0;
}

int capture_main(int argc, char **argv)
{
	static struct capture_run r; /* and its pointers: for the whole run */
	int status = capture_command_parse(&r.c, argc, argv), ended;

	if (status)
		return status < 0 ? 0 : status;
	if (r.c.list)
		return interface_list_print() ? 1 : 0;
	log_settings.level = r.c.run.log_level; /* no times, as in tcpdump */
	if (name_interfaces(&r.c.run.capture))
		return EXIT_USAGE;
	if (capture_start(&r))
		return 1;
	status = run_sensor(&r.c.run);
	ended = local_collector_wait(&r.collector);
	if (r.output >= 0)
		close(r.output); /* the capture did not begin */
	if (r.printer) {
		ended = print_end(r.printer) ?: ended;
		print_totals(&r);
	}
	return ended ?: status;
}
