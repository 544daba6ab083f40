// SPDX-License-Identifier: GPL-2.0
/* Answers: see answer.h. */
#include "answer.h"

#include "merge/frame/identity.h"

/* OFDM's. With ERP and DSSS it is 10 us, and an extension of 6 us or none. */
#define SIFS_NS 16000
#define ANSWER_BITS (14 * 8)

/* Duration of an ACK or CTS at a rate in units of 500 kbit/s (IEEE 802.11-2020, 15.2 and 17.4).
 * Without a rate: 24 Mbit/s, the highest basic rate. */
static int64_t air_ns(uint8_t rate)
{
	int64_t bits_a_symbol = rate * 2;

	if (rate == 2 || rate == 4 || rate == 11 || rate == 22)
		return 192000 + ANSWER_BITS * 2000LL / rate;
	if (rate < 12 || rate > 108)
		bits_a_symbol = 96;
	return 20000 + (16 + ANSWER_BITS + 6 + bits_a_symbol - 1) / bits_a_symbol * 4000;
}

int64_t answer_time(const struct answered *last, const struct reception *r, int64_t unified_ns)
{
	int64_t expected;

	if ((r->class != FRAME_ACK && r->class != FRAME_CTS) || !last->late ||
	    unified_ns < last->unified_ns || unified_ns - last->unified_ns > ANSWER_NEAR_NS ||
	    last->by->address != r->address)
		return unified_ns;
	expected = transmission_ns(last->by) + SIFS_NS + air_ns(r->rate);
	return unified_ns - expected > ANSWER_LATE_NS ? expected : unified_ns;
}

void answer_note(struct answered *last, const struct transmission *t, int64_t unified_ns)
{
	last->by = t;
	last->unified_ns = unified_ns;
	last->late = unified_ns - transmission_ns(t) > ANSWER_LATE_NS;
}
