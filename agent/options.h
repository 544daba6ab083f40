/* SPDX-License-Identifier: GPL-2.0 */
/* What `saluki run` was asked for. Strings point into argv. */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum keep { KEEP_DEFAULT, KEEP_HEADERS, KEEP_ALL };
enum source_choice { SOURCE_AUTO, SOURCE_XDP, SOURCE_TC };
enum ring_kind { RING_BPF, RING_MAPPED };
enum direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_INOUT };

struct run_options {
	const char *interface; /* -i, or */
	const char *file;      /* -r */
	char to[280];
	const char *to_host, *to_port; /* inside `to` */
	const char *key_file;
	const char *user;
	uint32_t snaplen; /* bytes */
	enum keep keep;
	enum source_choice source;
	enum direction direction;
	bool consume;
	bool pace;
	enum ring_kind ring;
	uint32_t ring_size;  /* bytes, a power of two */
	uint32_t combo_size; /* bytes */
	uint32_t combo_age_ms;
	bool compress;
	int level; /* zstd */
};

/* Returns 0, or the exit status with everything said: 2 for bad usage, -1 after --help. */
int options_parse(struct run_options *o, int argc, char **argv);

#endif
