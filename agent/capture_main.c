// SPDX-License-Identifier: GPL-2.0
/*
 * saluki capture: a sensor and a collector in one command, joined by keys that live as long as it
 * does. A frame's way is that of `saluki run` (run.c) and of saluki-collector:
 *
 *     sensor ═▶ socket pair ═▶ saluki-collector ─▶ file, standard output
 *                                               ═▶ pipe ═▶ print/: a line for each frame
 *
 * local/ makes the keys, and starts the collector before this process confines itself. The
 * collector's end stops the sensor, and the other way round.
 */
#include <errno.h>
#include <unistd.h>

#include "agent/interface/interface_list.h"
#include "agent/local/local_collector.h"
#include "agent/local/local_inputs.h"
#include "agent/local/local_keys.h"
#include "agent/local/local_output.h"
#include "agent/options/capture_command.h"
#include "agent/options/subcommands.h"
#include "common/child.h"
#include "common/log.h"
#include "print/print.h"
#include "run.h"
#include "wire/keys.h"

static int collector_start(struct capture_command *c, struct local_collector *collector, int output)
{
	const struct local_collector_options o = { .write = c->write ?: "-",
						   .size = c->size,
						   .time = c->time,
						   .files = c->files,
						   .user = c->run.user,
						   .quiet = c->run.log_level < LOG_LEVEL_NORMAL,
						   .output = output };
	struct local_keys keys;
	int err = local_keys_make(&keys);

	if (err)
		return err;
	err = local_collector_start(collector, &keys, &o);
	local_keys_close(&keys);
	if (err)
		return err;
	c->run.key_fd = keys.sensor;
	c->run.to_count = 1;
	c->run.to[0].inherited = collector->sock;
	return 0;
}

/* Checks before anything is started. */
static int capture_check(const struct capture_command *c)
{
	int err = local_collector_check() ?: local_inputs_check(&c->run.capture, c->run.file);

	if (!err && c->write && !c->size && !c->time)
		err = local_output_empty(c->write);
	if (!err && keys_init()) {
		log_line("libsodium does not start on this machine");
		err = -ENOSYS;
	}
	return err;
}

/* The printing process comes first: it must have no descriptor of the others. `printer`: 0 without
 * one. */
static int capture_start(struct capture_command *c, struct local_collector *collector,
			 pid_t *printer)
{
	int err = capture_check(c), output = -1;

	*printer = 0;
	if (!err && !c->write)
		output = err = print_start(&c->print, printer);
	if (err < 0)
		return err;
	err = collector_start(c, collector, output);
	if (output >= 0)
		close(output);
	return err;
}

int capture_main(int argc, char **argv)
{
	static struct capture_command c; /* and its pointers: for the whole run */
	struct local_collector collector = { .sock = -1 };
	int status = capture_command_parse(&c, argc, argv), ended;
	pid_t printer;

	if (status)
		return status < 0 ? 0 : status;
	if (c.list)
		return interface_list_print() ? 1 : 0;
	log_settings.level = c.run.log_level; /* no times, as in tcpdump */
	if (capture_start(&c, &collector, &printer))
		return 1;
	status = run_sensor(&c.run);
	ended = local_collector_wait(&collector);
	if (printer)
		ended = child_wait(printer, "the process that prints") ?: ended;
	return ended ?: status;
}
