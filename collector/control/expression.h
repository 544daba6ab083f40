/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expressions in tcpdump's language, of the sensors file (refocus.c). In: text, frames. Out:
 * whether a frame is one of those. The only file of the collector that knows libpcap, which is
 * loaded when there is the first expression, and not before. Always holds: what the collector
 * compiles is of its owner, and compiled before system calls are limited, for names may be looked
 * up and libraries loaded by it; what it is matched with is of strangers.
 */
#ifndef COLLECTOR_CONTROL_EXPRESSION_H
#define COLLECTOR_CONTROL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/combo.h"

struct expression;

/* For those link types for which it is one. NULL with the reason in `why`, where it is for none. */
struct expression *expression_new(const char *text, char *why, size_t why_len);
void expression_free(struct expression *e);
/* What is not kept of a frame is not there: a test of it fails. */
bool expression_match(const struct expression *e, const struct combo_frame *f);

#endif
