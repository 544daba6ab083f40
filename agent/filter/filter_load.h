/* SPDX-License-Identifier: GPL-2.0 */
/* Filter, into the kernel: programs are loaded with it in the place that bpf/filter.h keeps. */
#ifndef AGENT_FILTER_LOAD_H
#define AGENT_FILTER_LOAD_H

#include "filter.h"

struct bpf_object_skeleton;

/* To be called before an object is opened that is to be loaded with filters: libbpf asks us then
 * before it loads programs of the sections "xdp" and "tc". Returns 0 or -errno. */
int filter_load_init(void);
/* Loads the object, as the skeleton's own load does; with a filter that is not empty, each program
 * of it with a place for one gets that filter. Returns 0, or -errno. Where the filter is the
 * reason for that, `why` says which part of it and what to do, else it is empty. One at a time. */
int filter_load(struct bpf_object_skeleton *s, const struct filter *f, char *why, size_t why_len);

#endif
