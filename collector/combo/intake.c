// SPDX-License-Identifier: GPL-2.0
/* Intake: see intake.h. */
#include "intake.h"

#include "combos.h"
#include "gaps.h"
#include "one_way.h"
#include "reassemble.h"
#include "runs.h"
#include "sensor.h"
#include "turns.h"

bool intake_piece(struct combos *c, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns)
{
	struct piece p;

	if (piece_read(&p, message, len)) {
		s->ledger.bad_pieces++;
		return true; /* a retransmission would not be better */
	}
	if (s->no_acks)
		one_way_piece(c, s, &p, now_ns);
	switch (reassemble_add(&s->combo->reassembly, &c->pool, &p, now_ns)) {
	case REASSEMBLE_TAKEN:
		turns_ready(c, s);
		return true;
	case REASSEMBLE_DUPLICATE:
		s->ledger.duplicate_pieces++;
		return true;
	case REASSEMBLE_REFUSED:
		s->combo->no_room = true;
		return false;
	default:
		s->ledger.bad_pieces++;
		return true;
	}
}

void intake_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		  uint64_t now_ns)
{
	if (s->no_acks) {
		one_way_floor(c, s, combo, first, now_ns);
		return;
	}
	gaps_floor(s, combo, first, ledger_floor);
	turns_ready(c, s);
}

void intake_session(struct combos *c, struct sensor *s, struct run_terms *t, uint64_t now_ns)
{
	if (runs_next(s, t)) {
		gaps_rest(s);
		turns_ready(c, s);
	}
	if (s->no_acks)
		one_way_session(c, s, now_ns);
	s->combo->waiting = !runs_begin(c, s);
	if (s->combo->waiting)
		turns_wait(c, s, now_ns);
}

void intake_tick(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	one_way_tick(c, s, now_ns);
}

void intake_finish(struct combos *c, uint64_t now_ns)
{
	for (unsigned int i = 0; i < c->sensors->count; i++)
		one_way_end(c, c->sensors->list[i]);
	turns_all(c, now_ns);
}

void intake_finish_capture(struct combos *c, uint64_t now_ns)
{
	for (unsigned int i = 0; i < c->sensors->count; i++)
		c->sensors->list[i]->no_acks = true; /* so none of its combos can wait */
	turns_release(c, now_ns);
	intake_finish(c, now_ns);
}
