/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters: which frames are captured, in tcpdump's language. In: an expression and a link type
 * (filter_compile.c) or the output of `tcpdump -ddd` (filter_code.c). Out: classic BPF that has
 * been checked, for the kernel's programs (filter_bpf.c, filter_load.c), for sockets, and for files
 * (filter_match.c).
 *
 * A filter sees a frame as on the wire: complete, with a VLAN tag in its place. A return value
 * other than 0 accepts the frame. The value does not limit the kept length.
 */
#ifndef AGENT_FILTER_H
#define AGENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/model/classic_filter.h"

/* All of these return 0, or -errno with the reason and the remedy as one line in `why`. */

/* Compiles a pcap-filter(7) expression for frames of a link type (LINKTYPE_). An empty one makes an
 * empty filter. */
int filter_compile(struct filter *f, const char *expression, int linktype, char *why,
		   size_t why_len);
/* Reads the output of `tcpdump -ddd` to the end of `fd`, which stays open. `name` is the file's. */
int filter_read_code(struct filter *f, int fd, const char *name, char *why, size_t why_len);
/* The same from memory. */
int filter_parse_code(struct filter *f, const char *text, size_t len, char *why, size_t why_len);
/* Checks the code as Linux does before it attaches a filter to a socket, so that filter_match and
 * the translation need no checks. The three functions above call it. */
int filter_check(const struct filter *f, char *why, size_t why_len);

/* Makes a filter from the given source; without one, an empty filter. */
int filter_make(struct filter *f, const struct filter_given *given, int linktype, char *why,
		size_t why_len);

/* Compiles an expression for the link types of files, while names can still be resolved and libpcap
 * loaded. Returns 0, or -errno if it is valid for none of them. */
int filter_prepare(struct filter_given *given, char *why, size_t why_len);

/* Joins the words of a command line with blanks. The caller frees it. NULL without memory. */
char *filter_join(int count, char *const *words);
/* Reads a file as filter_read_code does. The caller frees it. NULL with the reason in `why`. */
struct filter *filter_open_code(const char *path, char *why, size_t why_len);
/* Reads a pcap-filter(7) expression from a file, with '#' for comments. The caller frees it. NULL
 * with the reason in `why`. */
char *filter_read_expression(const char *path, char *why, size_t why_len);
/* Returns a hash that identifies a filter; 0 for an empty one, or NULL. */
uint32_t filter_hash(const struct filter *f);

/* Whether the filter accepts a frame with `cap_len` captured bytes of `orig_len`. */
bool filter_match(const struct filter *f, const uint8_t *frame, uint32_t cap_len,
		  uint32_t orig_len);

#endif
