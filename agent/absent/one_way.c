// SPDX-License-Identifier: GPL-2.0
/* In place of --one-way in builds without libbpf, to save 4 KB: it is refused. */
#include <errno.h>

#include "agent/export/one_way.h"
#include "common/log.h"

int one_way_start(struct one_way *w, struct session *s, struct deliver *d)
{
	log_line("--one-way refused: this saluki is built without it");
	return -EOPNOTSUPP;
}
