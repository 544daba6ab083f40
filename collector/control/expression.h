/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expression: filter expressions in tcpdump's language, of the sensors file (refocus.c). In: text,
 * frames. Out: whether a frame matches. No other file of the collector uses libpcap, which is
 * loaded for the first expression. Always holds: expressions come from the collector's owner, and
 * are compiled before system calls are limited, as libpcap may look up names and load libraries;
 * frames come from strangers.
 */
#ifndef COLLECTOR_CONTROL_EXPRESSION_H
#define COLLECTOR_CONTROL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/combo.h"

struct expression;

/* Compiles an expression for each link type that permits it. Returns NULL with the reason in `why`
 * if none does. */
struct expression *expression_new(const char *text, char *why, size_t why_len);
void expression_free(struct expression *e);
/* Returns whether a frame matches. A test of bytes beyond the kept ones fails. */
bool expression_match(const struct expression *e, const struct combo_frame *f);

#endif
