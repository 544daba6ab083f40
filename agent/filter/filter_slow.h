/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: the second translation's loads. */
#ifndef AGENT_FILTER_SLOW_H
#define AGENT_FILTER_SLOW_H

#include "filter_emit.h"

/* Comes in front of all of them. */
void slow_begin(struct emitter *e);
void slow_load_abs(struct emitter *e, uint8_t dst, uint32_t off, uint32_t size);
void slow_load_ind(struct emitter *e, uint32_t off, uint32_t size); /* into A */
void slow_load_len(struct emitter *e, uint8_t dst);

#endif
