/* SPDX-License-Identifier: GPL-2.0 */
/* Filter, into the kernel: loads programs with a filter in the place in bpf/filter.h. */
#ifndef AGENT_FILTER_LOAD_H
#define AGENT_FILTER_LOAD_H

#include "filter.h"

struct bpf_object_skeleton;

/* Call it before opening an object that will be loaded with filters: it registers a callback for
 * libbpf's loads of the sections "xdp" and "tc". Returns 0 or -errno. */
int filter_load_init(void);
/* Loads the object, as the skeleton's load does. Each program with a place for a filter gets the
 * filter, unless it is empty. Returns 0, or -errno. If the filter is the reason, `why` names the
 * part of it and the remedy, else `why` is empty. One load at a time. */
int filter_load(struct bpf_object_skeleton *s, const struct filter *f, char *why, size_t why_len);

#endif
