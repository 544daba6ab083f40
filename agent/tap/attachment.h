/* SPDX-License-Identifier: GPL-2.0 */
/* Attachment: one interface's programs and maps, for attach.h, attach_maps.h and attach_slots.h. */
#ifndef AGENT_TAP_ATTACHMENT_H
#define AGENT_TAP_ATTACHMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <saluki/record.h>

#include "hook.h"
#include "maps.h"
#include "pin.h"
#include "tap.h"

enum attach_hook { ATTACH_XDP_NATIVE, ATTACH_XDP_GENERIC, ATTACH_TC, ATTACH_HOOKS };

struct attach {
	const struct capture_options *o;
	const struct maps *maps;
	const char *name;
	struct tap_interface *interface;
	struct pin pin;
	struct saluki_config config; /* as in the map */
	int config_fd, counters_fd, filter_fd;
	int slots_fd[2]; /* of programs of XDP, and of tc: whose modules stay when programs change
			  */
	struct hooks hooks;
	char why[FILTER_WHY_LEN]; /* set if the last hook refused the filter */
	int told[ATTACH_HOOKS];	  /* last logged refusal per hook */
};

#endif
