/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adopt: finds what earlier commands left attached by its pins, checks it, and takes it over if it
 * fits the current options.
 */
#ifndef AGENT_ADOPT_H
#define AGENT_ADOPT_H

#include <saluki/record.h>

#include "agent/model/capture_options.h"
#include "pin.h"

/* Reads a config map. Returns 0; -EPROTO for another layout (then only `layout` and `version` are
 * valid); -EBADMSG if it was never written; or -errno. */
int config_read(int fd, struct saluki_config *c);
/* Reads the config of an interface's pins into `c`, and its descriptor into `fd`. Returns 1; 0 if
 * there are no pins; or -errno after a line: another layout, or broken. */
int adopt_config(const char *interface, const struct pin *p, struct saluki_config *c, int *fd);
/* Checks that the config is of the interface in this namespace, not of one in another namespace
 * with the same bpffs. Returns 0, or -EINVAL after a line. */
int adopt_namespace(const char *interface, const struct pin *p, const struct saluki_config *c);
/* Checks that these interfaces are exactly those that share one ring. Returns 0, or -EINVAL after a
 * line. */
int adopt_group(const struct capture_options *o, const struct saluki_config *configs);
/* Checks that the ring fits the options of `saluki attach`, as it cannot be changed. Returns 0, or
 * -EINVAL after a line. */
int adopt_ring(const struct capture_options *o, const struct saluki_config *c);
/* Sets in `o` the settings of `saluki attach`, which a run cannot change. Returns 0, or -EINVAL
 * after a line that names a given option that differs. */
int adopt_options(struct capture_options *o, const struct saluki_config *c);

#endif
