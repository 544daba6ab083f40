// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces the files that need libbpf and libxdp (NEEDS_bpf in the Makefile): no BPF programs, no
 * persistent rings, no pins. Interfaces are captured by packet sockets (tap_mmap.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/command/pinned.h"
#include "agent/command/refilter.h"
#include "agent/export/pipeline.h"
#include "agent/options/subcommands.h"
#include "agent/source/source.h"
#include "agent/tap/tap.h"
#include "agent/rings/xsk.h"
#include "common/log.h"
#include "common/options.h"

static void refuse(const char *what)
{
	log_line("%s refused: this saluki is built without libbpf", what);
}

/* ---- pipelines (QUEUE_LISTS is false) -------------------------------------------------------- */

int pipeline_init(struct pipeline *p, struct queue *queue, struct source *source,
		  struct compressor *compressor, const struct compressor_sight *sight)
{
	return -EOPNOTSUPP;
}

void pipeline_free(struct pipeline *p)
{
}

void *pipeline_thread(void *pipeline)
{
	return NULL;
}

/* ---- taps and sources ------------------------------------------------------------------------ */

struct tap *tap_bpf_new(const struct capture_options *o)
{
	refuse(o->source == SOURCE_TC ? "tc" : o->source == SOURCE_XDP ? "xdp" : "xdp, tc");
	errno = EOPNOTSUPP;
	return NULL;
}

struct tap *tap_xsk_new(const struct capture_options *o)
{
	errno = EOPNOTSUPP;
	return NULL;
}

uint64_t tap_bpf_capabilities(void)
{
	return 0;
}

int xsk_sockets_open(const struct capture_options *o)
{
	refuse("xsk");
	return -EOPNOTSUPP;
}

void xsk_sockets_forget_memory(void)
{
}

struct source *source_ring_open(const struct handover *h, const int *fds)
{
	refuse("a ring");
	return NULL;
}

struct source *source_xsk_open(const struct handover *h, const int *fds)
{
	return source_ring_open(h, fds);
}

/* ---- what is pinned: nothing ----------------------------------------------------------------- */

bool pinned_is(const char *interface)
{
	return false;
}

int pinned_open(struct pinned *p, const char *interface)
{
	memset(p, 0, sizeof(*p));
	return -ENOENT;
}

void pinned_close(struct pinned *p)
{
}

void pinned_counters(const struct pinned *p, struct saluki_counters *out)
{
	memset(out, 0, sizeof(*out));
}

int pinned_filter(const struct pinned *p, char *text, size_t len)
{
	snprintf(text, len, "%s", "");
	return -ENOENT;
}

int pinned_ring_fill(const struct pinned *p, uint64_t *used, uint64_t *size)
{
	*used = *size = 0;
	return -ENOENT;
}

int refilter_pinned(const char *interface, struct filter *new, const struct interface_state *link,
		    char *why, size_t why_len)
{
	snprintf(why, why_len, "no agent captures there; 'saluki status' lists where one does");
	return -ENOENT;
}

/* ---- commands -------------------------------------------------------------------------------- */

#define ABSENT_DEFS                                                                                \
	{                                                                                          \
		{ 'h', "help", NULL, "print this" },                                               \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

const struct option_def attach_defs[] = ABSENT_DEFS;
const struct option_def detach_defs[] = ABSENT_DEFS;
const struct option_def probe_defs[] = ABSENT_DEFS;

const struct command_def module_commands[] = { { 0 } };

static int absent_main(int argc, char **argv)
{
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		printf("Usage: saluki %s\n\nThis saluki is built without libbpf: it captures by "
		       "'saluki run' alone.\n",
		       argv[0]);
		return 0;
	}
	log_line("%s: this saluki is built without libbpf; use 'saluki run'", argv[0]);
	return 1;
}

int attach_main(int argc, char **argv)
{
	return absent_main(argc, argv);
}

int detach_main(int argc, char **argv)
{
	return absent_main(argc, argv);
}

int probe_main(int argc, char **argv)
{
	return absent_main(argc, argv);
}
