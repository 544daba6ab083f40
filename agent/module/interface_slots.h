/* SPDX-License-Identifier: GPL-2.0 */
/* One interface's slots, which slots.h opens and runner.h runs. */
#ifndef AGENT_MODULE_INTERFACE_SLOTS_H
#define AGENT_MODULE_INTERFACE_SLOTS_H

#include <saluki/record.h>
#include <saluki/slots.h>

#include "agent/interface/lock.h"
#include "agent/tap/pin.h"
#include "shim.h"

struct module_slots {
	const char *interface;
	struct lock lock;
	struct pin pin;
	struct saluki_config config; /* of the capture */
	enum module_hook hook;
	int programs_fd, counts_fd, limits_fd, consumers_fd, view_fd; /* -1: not there */
	struct saluki_slot_table table; /* as it is in force, to change */
	struct modules_bpf *next;	/* what is to run modules by it; NULL: not loaded */
};

#endif
