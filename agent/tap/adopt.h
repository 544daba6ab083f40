/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What earlier commands have left attached: found by its pins, checked, and taken over where it
 * fits what is asked for now.
 */
#ifndef AGENT_ADOPT_H
#define AGENT_ADOPT_H

#include <saluki/record.h>

#include "agent/model/capture_options.h"
#include "pin.h"

/* Reads a config map. Returns 0, -EPROTO where it is of another layout (then only `layout` and
 * `version` mean something), -EBADMSG where it is no config that was ever written, or -errno. */
int config_read(int fd, struct saluki_config *c);
/* Reads the config behind an interface's pins into `c`, and its descriptor into `fd`. Returns 1, 0
 * where nothing is pinned, or -errno after a line: of another layout, or broken. */
int adopt_config(const char *interface, const struct pin *p, struct saluki_config *c, int *fd);
/* Whether this is the interface of that name here, and not one in another namespace that has the
 * same bpffs. Returns 0, or -EINVAL after a line. */
int adopt_namespace(const char *interface, const struct pin *p, const struct saluki_config *c);
/* Whether these interfaces are all that share one ring. Returns 0, or -EINVAL after a line. */
int adopt_group(const struct capture_options *o, const struct saluki_config *configs);
/* Whether the ring is the one that `saluki attach` asks for: it cannot be changed. Returns 0, or
 * -EINVAL after a line. */
int adopt_ring(const struct capture_options *o, const struct saluki_config *c);
/* Sets in `o` what was attached by `saluki attach` and is not for a run to change. Returns 0, or
 * -EINVAL after a line that names an option that was given and differs. */
int adopt_options(struct capture_options *o, const struct saluki_config *c);

#endif
