// SPDX-License-Identifier: GPL-2.0
/* Pipeline: see pipeline.h. */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/fill.h"

/* Marks the end of the frames that are in the combo. */
static void mark_ends(const struct pipeline *p, struct slot *s, uint32_t begin)
{
	size_t len = p->source->lanes * sizeof(*s->ends);

	if (s->at == s->listed) {
		memcpy(s->ends, s->last, len);
		return;
	}
	for (uint32_t i = begin; i < s->at; i++)
		p->source->ops->pass(p->source, s->from, &s->list[i]);
	memcpy(s->ends, s->from, len);
}

/* Updates the estimate of a frame's bytes. Threads may overwrite one another's. */
static void estimate(struct queue *q, size_t used, size_t whole, uint32_t frames)
{
	uint32_t cost = __atomic_load_n(&q->frame_cost, __ATOMIC_RELAXED);
	size_t each = used > whole ? 16 * (used - whole) / frames : 16;

	__atomic_store_n(&q->frame_cost, (3 * cost + each + 3) / 4, __ATOMIC_RELAXED);
}

/* Puts the clocks' readings in, if they come before the next frame. Returns false if both do not
 * fit any more. */
static bool fill_clock(struct slot *s)
{
	uint32_t more = s->clock_len + COMBO_EVENT_HEAD_MAX;

	if (!s->clock_len || s->at != s->clock_at)
		return true;
	if (!combo_is_empty(&s->combo) && (!combo_event_fits(&s->combo, s->clock_len) ||
					   !combo_fits(&s->combo, s->list[s->at].kept_len + more)))
		return false;
	combo_event(&s->combo, COMBO_EVENT_CLOCK, s->clock, s->clock_len);
	s->clock_len = 0;
	return true;
}

void pipeline_fill(struct pipeline *p, struct slot *s)
{
	struct combo *c = &s->combo;
	uint32_t begin = s->at, whole = 0;
	size_t whole_bytes = 0;

	c->templates = p->templates;
	c->first = s->first;
	for (; s->at < s->listed && fill_clock(s) && fill(c, &s->list[s->at]); s->at++) {
		const struct combo_frame *f = &s->list[s->at];

		if (fill_is_whole(f)) {
			whole_bytes += f->kept_len + FILL_WHOLE_MORE;
			whole++;
		}
	}
	s->first += c->frames;
	mark_ends(p, s, begin);
	if (whole < s->at - begin)
		estimate(p->queue, c->columns_len + c->data_len, whole_bytes,
			 s->at - begin - whole);
	combo_close(c);
}

int pipeline_init(struct pipeline *p, struct queue *queue, struct source *source,
		  struct compressor *compressor, const struct compressor_sight *sight)
{
	*p = (struct pipeline){ .queue = queue,
				.source = source,
				.compressor = compressor,
				.sight = sight,
				.templates = malloc(sizeof(*p->templates)) };
	return p->templates ? 0 : -ENOMEM;
}

void pipeline_free(struct pipeline *p)
{
	free(p->templates);
}

void *pipeline_thread(void *arg)
{
	struct pipeline *p = arg;
	struct slot *s;

	while ((s = queue_claim(p->queue))) {
		pipeline_fill(p, s);
		s->wire_len = compressor_run(p->compressor, &s->combo, s->wire, p->sight,
					     queue_is_full(p->queue),
					     p->source->ops->filled(p->source));
		queue_filled(p->queue, s);
	}
	return NULL;
}
